/** A request body as far as a provider's cache goes by it: each part once, in order, without marks. */
export function canonical(body: unknown): readonly string[] {
  const { tools, system, messages } = body as {
    tools?: readonly unknown[];
    system?: readonly unknown[];
    messages: readonly { role: string; content: readonly unknown[] }[];
  };
  return [
    ...(tools ?? []).map((tool) => `tool ${bare(tool)}`),
    ...(system ?? []).map((block) => `system ${bare(block)}`),
    ...messages.flatMap((message, index) =>
      message.content.map((block) => `${index} ${message.role} ${bare(block)}`),
    ),
  ];
}

/** How many cache marks a request carries. */
export function marks(raw: Buffer): number {
  return raw.toString('utf8').split('"cache_control"').length - 1;
}

function bare(value: unknown): string {
  return JSON.stringify(value, (key, inner) => (key === 'cache_control' ? undefined : inner));
}
