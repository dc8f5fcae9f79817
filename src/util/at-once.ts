/** A value that is there already, or comes later. */
export type AtOnce<T> = T | Promise<T>;

/**
 * Goes on at once where the value is there. Most of what is asked at every call is known without waiting,
 * and a promise for each answer costs more than the answer.
 */
export function whenThere<T, Next>(
  value: AtOnce<T>,
  next: (value: T) => AtOnce<Next>,
): AtOnce<Next> {
  return value instanceof Promise ? value.then(next) : next(value);
}
