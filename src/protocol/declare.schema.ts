/** Schemas with a name: `npm run generate` prints each as a TypeScript type. */
import { z } from 'zod';

export interface Declaration {
  readonly name: string;
  /** One sentence; the comment of the type and a line of the reference page. */
  readonly text: string;
  readonly schema: z.ZodType;
}

const names = z.registry<{ name: string }>();

/** Gives a schema a name. Other types that contain it refer to it by this name. */
export function declare<T extends z.ZodType>(
  list: Declaration[],
  name: string,
  text: string,
  schema: T,
): T {
  names.add(schema, { name });
  list.push({ name, text, schema });
  return schema;
}

/** Prints a schema under the name of a type that is written by hand. */
export function printedAs<T extends z.ZodType>(name: string, schema: T): T {
  names.add(schema, { name });
  return schema;
}

/** A type that is written by hand, for values that are not checked here. */
export function handWritten(name: string): z.ZodType {
  return printedAs(name, z.unknown());
}

export function nameOf(schema: z.ZodType): string | undefined {
  return names.get(schema)?.name;
}
