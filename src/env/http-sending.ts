/** Requests that were sent and are not over. */
let underWay = 0;
let waiting: Sender[] = [];

/** Who has something to send. */
export interface Sender {
  sendNow(): void;
}

/**
 * Sends now, or while others are under way at the end of the loop's turn, together with what else is to be
 * sent by then. To wake a server on the same machine costs the sender up to ten times what sending costs; a
 * server that is awake already finds the others by itself.
 */
export function sendSoon(sender: Sender): void {
  underWay++;
  if (underWay === 1) sender.sendNow();
  else if (waiting.push(sender) === 1) setImmediate(sendAll);
}

/** For each `sendSoon` once: its answer came, or nobody waits for it any more. */
export function exchangeIsOver(): void {
  underWay--;
}

function sendAll(): void {
  const all = waiting;
  waiting = [];
  for (const sender of all) sender.sendNow();
}
