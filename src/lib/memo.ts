/**
 * Remembers what a function made of an object for as long as the object lives. Kept on the object
 * itself, as a weak map costs more than most of what is remembered. Not for frozen objects.
 */
export function memoised<K extends object, V>(make: (key: K) => V): (key: K) => V {
  const place = Symbol('remembered');
  return (key) => {
    const holder = key as K & { [place]?: { readonly value: V } };
    const found = holder[place];
    if (found !== undefined) return found.value;
    const value = make(key);
    holder[place] = { value };
    return value;
  };
}
