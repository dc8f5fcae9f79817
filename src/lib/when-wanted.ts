/**
 * A table that is made when somebody first wants it: what is written at the top of a file is made at
 * every start, and patterns cost more than other values.
 */
export function whenWanted<T>(make: () => T): () => T {
  let made: { readonly value: T } | undefined;
  return () => {
    made ??= { value: make() };
    return made.value;
  };
}
