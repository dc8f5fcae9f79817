import {
  appendFileSync,
  chmodSync,
  existsSync,
  mkdtempSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { PortcullisError } from '../../errors.js';
import { AppendError, createAppendLog } from './append-log.js';

let root: string;
let file: string;
beforeEach(() => {
  root = mkdtempSync(path.join(tmpdir(), 'append-log-'));
  file = path.join(root, 'projects', 'p', 's.jsonl');
});
afterEach(() => rmSync(root, { recursive: true, force: true }));

const content = (): string => readFileSync(file, 'utf8');

function failureOf(action: () => void): AppendError {
  try {
    action();
  } catch (thrown) {
    if (thrown instanceof AppendError) return thrown;
    throw thrown;
  }
  throw new Error('nothing was thrown');
}

describe('append log', () => {
  it('makes nothing before the first append, then private parents and a private file', () => {
    const log = createAppendLog(file);
    expect(existsSync(path.dirname(file))).toBe(false);
    log.append(['{"a":1}', '{"b":2}']);
    log.append([]);
    log.append(['{"c":"ü"}']);
    expect(content()).toBe('{"a":1}\n{"b":2}\n{"c":"ü"}\n');
    if (process.platform !== 'win32') {
      expect(statSync(file).mode & 0o777).toBe(0o600);
      expect(statSync(path.dirname(file)).mode & 0o777).toBe(0o700);
    }
    log.close();
  });

  it('closes a torn tail before the first append and changes nothing that is there', () => {
    createAppendLog(file).append(['{"a":1}']);
    appendFileSync(file, '{"b":');
    createAppendLog(file).append(['{"c":3}']);
    expect(content()).toBe('{"a":1}\n{"b":\n{"c":3}\n');
  });

  it('does not add a newline to a file that is empty or ends with one', () => {
    createAppendLog(file).append(['1']);
    writeFileSync(file, '');
    createAppendLog(file).append(['2']);
    createAppendLog(file).append(['3']);
    expect(content()).toBe('2\n3\n');
  });

  it('closes a tail that another writer left torn while the file was open', () => {
    const log = createAppendLog(file);
    log.append(['1']);
    appendFileSync(file, '{"half');
    log.append(['2']);
    appendFileSync(file, '{"whole":1}\n');
    log.append(['3']);
    expect(content()).toBe('1\n{"half\n2\n{"whole":1}\n3\n');
  });

  it('writes lines of every length and alphabet as they are, alone and together', () => {
    const log = createAppendLog(file);
    const texts = [
      '',
      'a',
      'ü漢😀',
      '\ud800',
      'x'.repeat(43_000),
      '漢'.repeat(44_000),
      '😀'.repeat(99_999),
    ];
    let size = 0;
    for (const text of texts) size = log.append([text]);
    expect(size).toBe(statSync(file).size);
    expect(log.append([...texts, ...texts])).toBe(3 * size);
    const whole = Buffer.from(`${[...texts, ...texts, ...texts].join('\n')}\n`);
    expect(readFileSync(file).equals(whole)).toBe(true);
    log.close();
  });

  it('interleaves whole lines with another open log', () => {
    const one = createAppendLog(file);
    const other = createAppendLog(file);
    one.append(['1']);
    other.append(['2']);
    one.append(['3']);
    expect(content()).toBe('1\n2\n3\n');
  });

  it('goes on in a new file when the old one, or its whole directory, is deleted', () => {
    const log = createAppendLog(file);
    log.append(['1']);
    rmSync(file);
    log.append(['2']);
    expect(content()).toBe('2\n');
    rmSync(path.join(root, 'projects'), { recursive: true });
    log.append(['3']);
    expect(content()).toBe('3\n');
  });

  it('follows the path when the file is replaced', () => {
    const log = createAppendLog(file);
    log.append(['1']);
    writeFileSync(`${file}.new`, 'other');
    renameSync(`${file}.new`, file);
    log.append(['2']);
    expect(content()).toBe('other\n2\n');
  });

  it('follows the path when the file is moved away', () => {
    const log = createAppendLog(file);
    log.append(['1']);
    renameSync(file, `${file}.old`);
    writeFileSync(file, 'other');
    log.append(['2']);
    expect(content()).toBe('other\n2\n');
    expect(readFileSync(`${file}.old`, 'utf8')).toBe('1\n');
  });

  it('looks at the path at each append', () => {
    const log = createAppendLog(file);
    log.append(['1']);
    renameSync(file, `${file}.old`);
    log.append(['2']);
    expect(readFileSync(`${file}.old`, 'utf8')).toBe('1\n');
    expect(content()).toBe('2\n');
  });

  it('tells where the file ends, and that another one wrote', () => {
    const log = createAppendLog(file);
    expect(log.append(['1'])).toBe(2);
    expect(log.end()).toBe(2);
    appendFileSync(file, '2\n');
    expect(log.end()).toBe(4);
    expect(log.append(['€'])).toBe(8);
  });

  it.skipIf(!existsSync('/dev/full'))('names file, reason and remedy when the disk is full', () => {
    symlinkSync('/dev/full', path.join(root, 'full'));
    const failure = failureOf(() => createAppendLog(path.join(root, 'full')).append(['x']));
    expect(failure).toBeInstanceOf(PortcullisError);
    expect(failure.code).toBe('session');
    expect(failure.message).toContain(path.join(root, 'full'));
    expect(failure.message).toContain('ENOSPC');
    expect(failure.remedy).toContain('Free space');
    expect(failure.savedLines).toBe(0);
  });

  it('recovers once the path can be written again', () => {
    const blocker = path.join(root, 'projects');
    writeFileSync(blocker, 'a file where a directory has to be');
    const log = createAppendLog(file);
    expect(failureOf(() => log.append(['1'])).message).toMatch(/ENOTDIR|EEXIST/);
    rmSync(blocker);
    log.append(['1']);
    expect(content()).toBe('1\n');
  });

  it.skipIf(process.getuid?.() === 0)('reports a directory that may not be written', () => {
    chmodSync(root, 0o500);
    expect(failureOf(() => createAppendLog(file).append(['1'])).remedy).toContain('writable');
    chmodSync(root, 0o700);
  });
});
