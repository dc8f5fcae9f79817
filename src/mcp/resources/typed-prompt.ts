/** What somebody typed, when it is a command of this kind. */
export interface TypedPrompt {
  readonly name: string;
  readonly args: string;
}

/** Whether a text is `/mcp__server__prompt arguments`. Says nothing of whether there is one of that name. */
export function readTypedPrompt(text: string): TypedPrompt | undefined {
  const match = /^\s*\/(mcp__[A-Za-z0-9_-]+)(?:\s+([\s\S]*))?$/.exec(text);
  const name = match?.[1];
  return name === undefined ? undefined : { name, args: (match?.[2] ?? '').trim() };
}
