/** Lets one after the other speak with the person: two questions at once would share an answer. */
export type Turns = <T>(speak: () => Promise<T>) => Promise<T>;

export function createTurns(): Turns {
  let last: Promise<unknown> = Promise.resolve();
  return (speak) => {
    const turn = last.then(speak);
    last = turn.catch(() => undefined);
    return turn;
  };
}
