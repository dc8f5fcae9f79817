import type { Receipt } from '../protocol/permissions.js';
import { isSealed } from '../util/sealed.js';

const MADE_BY_GATE = Symbol('made by the gate');

/**
 * Leave to run one call with one input. Only the gate makes one, and it is good for one use:
 * without it no tool runs, by type and at run time.
 */
export class Permit {
  readonly receipt: Receipt;
  readonly input: unknown;
  #spent = false;

  private constructor(key: symbol, receipt: Receipt, input: unknown) {
    if (key !== MADE_BY_GATE) throw new Error('a permit is made by the gate alone');
    this.receipt = receipt;
    this.input = input;
  }

  /** For `permissions/gate.ts` only; the architecture test checks the call site. */
  static issue(receipt: Receipt, input: unknown): Permit {
    return new Permit(MADE_BY_GATE, receipt, input);
  }

  /** fail-closed: a permit that was used, or was given for another call or input, opens nothing. */
  spend(toolUseId: string, input: unknown): void {
    if (this.#spent) throw new Error('this permit was already used');
    if (this.receipt.decision !== 'allow') throw new Error('this permit does not allow anything');
    if (this.receipt.toolUseId !== toolUseId || this.input !== input) {
      throw new Error('this permit was given for another call');
    }
    // fail-closed: the same object need not hold what it held when it was judged.
    if (!isSealed(input)) throw new Error('this permit was given for an input that may change');
    this.#spent = true;
  }
}
