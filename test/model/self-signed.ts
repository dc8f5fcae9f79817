import { generateKeyPairSync, sign } from 'node:crypto';

/** A certificate for `localhost` and 127.0.0.1 that nobody but itself vouches for, with its key, as PEM. */
export function selfSigned(): { readonly key: string; readonly cert: string } {
  const { privateKey, publicKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' });
  const name = sequence(der(0x31, sequence(oid('2.5.4.3'), der(0x0c, Buffer.from('localhost')))));
  const signedWith = sequence(oid('1.2.840.10045.4.3.2'));
  const day = 24 * 60 * 60 * 1000;
  const names = sequence(der(0x82, Buffer.from('localhost')), der(0x87, Buffer.of(127, 0, 0, 1)));
  const authority = sequence(der(0x01, Buffer.of(0xff)));
  const content = sequence(
    der(0xa0, der(0x02, Buffer.of(2))),
    der(0x02, Buffer.of(1)),
    signedWith,
    name,
    sequence(time(Date.now() - day), time(Date.now() + day)),
    name,
    publicKey.export({ type: 'spki', format: 'der' }),
    der(
      0xa3,
      sequence(
        sequence(oid('2.5.29.17'), der(0x04, names)),
        sequence(oid('2.5.29.19'), der(0x04, authority)),
      ),
    ),
  );
  const signature = der(0x03, Buffer.concat([Buffer.of(0), sign('sha256', content, privateKey)]));
  const base64 = sequence(content, signedWith, signature).toString('base64');
  const lines = base64.match(/.{1,64}/g)?.join('\n') ?? '';
  return {
    key: privateKey.export({ type: 'pkcs8', format: 'pem' }) as string,
    cert: `-----BEGIN CERTIFICATE-----\n${lines}\n-----END CERTIFICATE-----\n`,
  };
}

function der(tag: number, content: Buffer): Buffer {
  const { length } = content;
  const size =
    length < 0x80 ? [length] : length < 0x100 ? [0x81, length] : [0x82, length >> 8, length & 0xff];
  return Buffer.concat([Buffer.of(tag, ...size), content]);
}

function sequence(...parts: readonly Buffer[]): Buffer {
  return der(0x30, Buffer.concat(parts));
}

function oid(dotted: string): Buffer {
  const [first = 0, second = 0, ...rest] = dotted.split('.').map(Number);
  const bytes = [first * 40 + second];
  for (const part of rest) {
    const sevens = [part & 0x7f];
    for (let left = part >> 7; left > 0; left >>= 7) sevens.unshift((left & 0x7f) | 0x80);
    bytes.push(...sevens);
  }
  return der(0x06, Buffer.from(bytes));
}

function time(ms: number): Buffer {
  const digits = new Date(ms).toISOString().replace(/[-:T]|\.\d+/g, '');
  return der(0x18, Buffer.from(digits));
}
