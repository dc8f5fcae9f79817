// Replaces what differs from run to run: places, ids, times, durations, hashes, ports, and the machine.
export function normalise(lines, { root, program }) {
  const ids = new Map();
  const numbered = (kind) => (id) => {
    if (!ids.has(id)) ids.set(id, `{${kind} ${ids.size + 1}}`);
    return ids.get(id);
  };
  const repository = new URL('../..', import.meta.url).pathname.replace(/\/$/, '');
  const encoded = root.replace(/[^a-zA-Z0-9]/g, '-');
  return lines.map((line) =>
    line
      .replaceAll(root, '{ROOT}')
      .replaceAll(encoded, '{ROOT}')
      .replaceAll(repository, '{REPOSITORY}')
      .replaceAll(program, '{PROGRAM}')
      .replaceAll(process.execPath, '{NODE}')
      .replace(
        /(?<![0-9a-f])[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}/g,
        numbered('id'),
      )
      .replace(/(?<![0-9a-f])a[0-9a-f]{16}(?![0-9a-f])/g, numbered('agent'))
      .replace(/(?<![0-9a-z])b[0-9a-f]{8}(?![0-9a-z])/g, numbered('shell'))
      .replace(/"start":"\d+"/g, '"start":"{n}"')
      .replace(/\b[0-9a-f]{64}\b/g, '{hash}')
      .replace(/\b[0-9a-f]{40}\b/g, '{commit}')
      .replace(/\b\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?Z/g, '{time}')
      .replace(/\b\d{4}-\d\d-\d\d\b/g, '{date}')
      .replace(/\b1[789]\d{11}\b/g, '{time}')
      .replace(/127\.0\.0\.1:\d+/g, '127.0.0.1:{port}')
      .replace(
        /("(?:ms|\w*_ms|\w*Ms|durationMs|duration|seconds|elapsed\w*|pid|\w*Pid|port)":)\d+(\.\d+)?/g,
        '$1{n}',
      )
      .replace(/Platform: [^\\"]*/g, 'Platform: {platform}')
      .replace(/used [\d.]+ s\b/g, 'used {n} s')
      .replace(/\bpid \d+/g, 'pid {n}')
      .replace(/^ {2}start \d+$/, '  start {n}'),
  );
}
