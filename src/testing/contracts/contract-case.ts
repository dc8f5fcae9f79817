/** One promise of a contract. Bound to no test framework: hand `name` and `run` to the one you use. */
export interface ContractCase {
  readonly name: string;
  /** Rejects when the promise is broken. */
  run(): Promise<void>;
}
