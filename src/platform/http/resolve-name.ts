/** Resolves a name to all its addresses; empty when it has none or cannot be resolved. */
export async function resolveName(hostname: string): Promise<readonly string[]> {
  try {
    const { lookup } = await import('node:dns/promises');
    return (await lookup(hostname, { all: true })).map((found) => found.address);
  } catch {
    return [];
  }
}
