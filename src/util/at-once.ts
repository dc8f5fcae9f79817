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
  return isLater(value) ? value.then(next) : next(value);
}

/**
 * Whether a value is still to come. By what it can do, not by its class: a host may have put another one in
 * the place of `Promise`, and what comes later would be taken for the value.
 */
export function isLater<T>(value: AtOnce<T>): value is Promise<T> {
  return typeof (value as { readonly then?: unknown } | null | undefined)?.then === 'function';
}
