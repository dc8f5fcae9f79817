/** What schemas are made of, and schemas with a name: `npm run generate` prints each as a TypeScript type. */
import { z } from 'zod';

export interface Declaration {
  readonly name: string;
  /** One sentence; the comment of the type and a line of the reference page. */
  readonly text: string;
  readonly schema: z.ZodType;
}

export const text = z.string();
export const flag = z.boolean();
export const list = z.array(text);
/** An object whose fields are not known here. */
export const open = z.record(text, z.unknown());

/** One of these words. */
export const words = (choices: string) => z.enum(choices.trim().split(/\s+/));

const names = z.registry<{ name: string }>();

/** Gives a schema a name. Other types that contain it refer to it by this name. */
export function declare<T extends z.ZodType>(
  target: Declaration[],
  name: string,
  about: string,
  schema: T,
): T {
  const named = printedAs(name, schema);
  target.push({ name, text: about, schema: named });
  return named;
}

/** Prints a schema under the name of a type that is written by hand. */
export function printedAs<T extends z.ZodType>(name: string, schema: T): T {
  // A copy: schemas like `text` are shared.
  const named = schema.clone();
  names.add(named, { name });
  return named;
}

/** A type that is written by hand, for values that are not checked here. */
export function handWritten(name: string): z.ZodType {
  return printedAs(name, z.unknown());
}

export function nameOf(schema: z.ZodType): string | undefined {
  return names.get(schema)?.name;
}
