/** Every address of a name, as the system resolves it. Empty when it has none, or when nobody knows. */
export async function resolveName(hostname: string): Promise<readonly string[]> {
  try {
    const { lookup } = await import('node:dns/promises');
    return (await lookup(hostname, { all: true })).map((found) => found.address);
  } catch {
    return [];
  }
}
