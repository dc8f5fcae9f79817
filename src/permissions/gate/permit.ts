import { isFrozenJson } from '../../lib/frozen-json.js';
import type { Receipt } from '../../protocol/permissions.js';

/** Leave to run one call with one input, good for one use. Only the gate makes one. */
class Permit {
  readonly receipt: Receipt;
  readonly input: unknown;
  /** The shell code to run, for tools that run any: the input's own, or its canonical form. */
  readonly command: string | undefined;
  /** By which the type fits no other object. */
  protected readonly made = true;

  constructor({ receipt, input, command }: Permitted) {
    this.receipt = receipt;
    this.input = input;
    this.command = command;
  }
}

export type { Permit };

type Permitted = Pick<Permit, 'receipt' | 'input' | 'command'>;

const unused = new WeakSet<Permit>();
const used = new WeakSet<Permit>();

type IssuePermit = (permitted: Permitted) => Permit;

let issuer: IssuePermit | undefined = (permitted) => {
  const permit = new Permit(permitted);
  unused.add(permit);
  return permit;
};

/** The right to make permits. It is given once in a process, and `permissions/gate.ts` takes it when it is loaded. */
export function takePermitIssuer(): IssuePermit {
  const taken = issuer;
  issuer = undefined;
  // fail-closed: a second maker of permits would be a second way in.
  if (taken === undefined) throw new Error('permits are made by the gate alone');
  return taken;
}

/** fail-closed: a permit that was used, that the gate did not make, or made for another call, opens nothing. */
export function spendPermit(permit: Permit, toolUseId: string, input: unknown): void {
  if (used.has(permit)) throw new Error('this permit was already used');
  if (!unused.has(permit)) throw new Error('this permit was not made by the gate');
  if (permit.receipt.decision !== 'allow') throw new Error('this permit does not allow anything');
  if (permit.receipt.toolUseId !== toolUseId || permit.input !== input) {
    throw new Error('this permit was given for another call');
  }
  // fail-closed: the same object need not hold what it held when it was judged.
  if (!isFrozenJson(input)) throw new Error('this permit was given for an input that may change');
  unused.delete(permit);
  used.add(permit);
}
