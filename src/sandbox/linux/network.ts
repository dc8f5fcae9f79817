import { type Reach, realReach } from '../host/dial.js';
import type { SandboxProxy } from '../host/proxy.js';
import type { Duplex } from '../host/stream.js';
import type { SandboxNetwork } from '../types.js';

export type Filtered = Extract<SandboxNetwork, { kind: 'filtered' }>;

/** The proxy of one program, and what it refused. */
export interface ProgramProxy {
  readonly refused: ReadonlyMap<string, string>;
  serve(connection: Duplex): void;
  close(): void;
}

/** The proxy itself is loaded when the program connects for the first time: most never do. */
export function programProxy(
  rules: Filtered,
  options: {
    readonly env: Readonly<Record<string, string | undefined>>;
    readonly reach?: Reach | undefined;
    readonly token?: string;
  },
): ProgramProxy {
  const refused = new Map<string, string>();
  const { reach = realReach(options.env), token } = options;
  let proxy: SandboxProxy | undefined;
  let loading: Promise<SandboxProxy> | undefined;
  let isClosed = false;
  const load = async (): Promise<SandboxProxy> => {
    const { SandboxProxy: Filter } = await import('../host/proxy.js');
    return new Filter({
      rules,
      reach,
      refused: (target, why) => refused.set(target, why),
      token,
    });
  };
  return {
    refused,
    serve(connection) {
      loading ??= load();
      void loading.then((loaded) => {
        proxy = loaded;
        if (isClosed) connection.destroy();
        else loaded.serve(connection);
      });
    },
    close() {
      isClosed = true;
      proxy?.close();
    },
  };
}
