import { writeFileSync } from 'node:fs';
import path from 'node:path';
import { deflateSync } from 'node:zlib';
import { beforeEach, describe, expect, it } from 'vitest';
import { type CallHost, callHost } from '../../../test/support/tool-call.js';
import { nodeFileSystem as fs } from '../../platform/fs/node-fs.js';
import { dimensionsOf, fileTypeOf } from './file-type.js';
import { readTool } from './read.js';

const read = readTool({ fs });
let host: CallHost;
const at = (name: string) => path.join(host.cwd, name);
const make = (name: string, content: string | Uint8Array) => writeFileSync(at(name), content);
const open = (file_path: string, more: object = {}) => host.call(read, { file_path, ...more });

beforeEach(() => {
  host = callHost();
});

/** Signature, size and nothing else: enough for a reader of headers. */
function png(width: number, height: number, padding = 0): Buffer {
  const head = Buffer.from('89504e470d0a1a0a0000000d49484452', 'hex');
  const size = Buffer.alloc(8);
  size.writeUInt32BE(width, 0);
  size.writeUInt32BE(height, 4);
  return Buffer.concat([head, size, deflateSync(Buffer.alloc(4)), Buffer.alloc(padding)]);
}

const jpeg = Buffer.concat([
  Buffer.from('ffd8ffe000104a46494600010100000100010000', 'hex'),
  Buffer.from('ffc0001108', 'hex'),
  Buffer.from([0, 30, 0, 40, 3]),
  Buffer.alloc(20),
]);
const gif = Buffer.from([...Buffer.from('GIF89a'), 5, 0, 7, 0, 0, 0, 0]);

describe('images', () => {
  it('come as an image block with their size', async () => {
    make('a.png', png(3, 4));
    const { output, structured } = await open('a.png');
    const data = png(3, 4).toString('base64');
    expect(output.content).toEqual([
      { type: 'text', text: `${at('a.png')}: png, 3x4 pixels` },
      { type: 'image', source: { type: 'base64', media_type: 'image/png', data } },
    ]);
    expect(structured).toMatchObject({
      type: 'image',
      file: { type: 'image/png', originalSize: png(3, 4).length },
    });
  });

  it('are known by their bytes, not by their names', async () => {
    make('lies.png', jpeg);
    expect((await open('lies.png')).structured).toMatchObject({ file: { type: 'image/jpeg' } });
    make('lies.txt', gif);
    expect((await open('lies.txt')).structured).toMatchObject({ file: { type: 'image/gif' } });
    make('text.png', 'just text\n');
    expect((await open('text.png')).text).toBe('1\tjust text');
  });

  it('are refused when too large or damaged', async () => {
    make('large.png', png(10, 10, 4 * 1024 * 1024));
    expect((await open('large.png')).text).toMatch(/smaller copy/);
    make('wide.png', png(9000, 10));
    expect((await open('wide.png')).text).toMatch(/9000x10/);
    make('cut.png', png(3, 4).subarray(0, 12));
    expect((await open('cut.png')).text).toMatch(/damaged/);
    make('zero.png', png(0, 4));
    expect((await open('zero.png')).text).toMatch(/damaged/);
  });

  it('have their size read in every format', () => {
    const webp = (kind: string, rest: readonly number[]) =>
      Buffer.concat([
        Buffer.from(`RIFF\0\0\0\0WEBP${kind}\0\0\0\0`, 'latin1'),
        Buffer.from([...rest, ...Array(16).fill(0)]),
      ]);
    const sizes = [
      [jpeg, 40, 30],
      [gif, 5, 7],
      [webp('VP8 ', [0, 0, 0, 0x9d, 1, 0x2a, 20, 0, 10, 0]), 20, 10],
      [webp('VP8L', [0x2f, 19, 0x40, 2, 0]), 20, 10],
      [webp('VP8X', [0, 0, 0, 0, 19, 0, 0, 9, 0, 0]), 20, 10],
    ] as const;
    for (const [bytes, width, height] of sizes) {
      const type = fileTypeOf(bytes);
      expect(type).toBeDefined();
      if (type === undefined || type === 'pdf') continue;
      expect(dimensionsOf(bytes, type)).toEqual({ width, height });
    }
  });
});

/** A PDF with one line of text a page; an empty line makes a page without text. */
function pdf(pages: readonly string[]): Buffer {
  const objects: string[] = [];
  const kids = pages.map((_, index) => `${4 + index * 2} 0 R`).join(' ');
  objects.push('<< /Type /Catalog /Pages 2 0 R >>');
  objects.push(`<< /Type /Pages /Kids [${kids}] /Count ${pages.length} >>`);
  objects.push('<< /Type /Font /Subtype /Type1 /BaseFont /Helvetica >>');
  for (const [index, text] of pages.entries()) {
    const stream = text === '' ? '' : `BT /F1 12 Tf 20 100 Td (${text}) Tj ET`;
    objects.push(
      `<< /Type /Page /Parent 2 0 R /MediaBox [0 0 200 200] /Resources << /Font << /F1 3 0 R >> >> /Contents ${5 + index * 2} 0 R >>`,
    );
    objects.push(`<< /Length ${stream.length} >>\nstream\n${stream}\nendstream`);
  }
  let body = '%PDF-1.4\n';
  const offsets: number[] = [];
  for (const [index, object] of objects.entries()) {
    offsets.push(body.length);
    body += `${index + 1} 0 obj\n${object}\nendobj\n`;
  }
  const rows = offsets.map((offset) => `${String(offset).padStart(10, '0')} 00000 n \n`).join('');
  const size = objects.length + 1;
  return Buffer.from(
    `${body}xref\n0 ${size}\n0000000000 65535 f \n${rows}trailer << /Size ${size} /Root 1 0 R >>\nstartxref\n${body.length}\n%%EOF\n`,
  );
}

describe('PDFs', () => {
  it('come as text by pages', async () => {
    make('a.pdf', pdf(['Hello one', 'Hello two']));
    const { text, structured } = await open('a.pdf');
    expect(text).toBe('--- page 1 of 2 ---\nHello one\n--- page 2 of 2 ---\nHello two');
    expect(structured).toMatchObject({ pdf: { firstPage: 1, lastPage: 2, totalPages: 2 } });
    expect(host.readState.get(at('a.pdf'))?.whole).toBe(true);
  });

  it('need page numbers above ten pages, and give at most twenty', async () => {
    make('a.pdf', pdf(Array.from({ length: 25 }, (_, index) => `P${index + 1}.`)));
    expect((await open('a.pdf')).text).toMatch(/25 pages.*`pages`/);
    expect((await open('a.pdf', { pages: '3' })).text).toBe('--- page 3 of 25 ---\nP3.');
    const range = await open('a.pdf', { pages: '6-25' });
    expect(range.text).toContain('P25.');
    expect(range.text).not.toContain('P5.');
    expect((await open('a.pdf', { pages: '20-' })).text).toContain('P25.');
    expect((await open('a.pdf', { pages: '1-25' })).text).toMatch(/at most 20/);
    expect((await open('a.pdf', { pages: '26' })).text).toMatch(/no page 26/);
    expect((await open('a.pdf', { pages: '5-3' })).text).toMatch(/ends before/);
    expect((await open('a.pdf', { pages: 'all' })).text).toMatch(/must be like/);
    expect(host.readState.get(at('a.pdf'))?.whole).toBe(false);
  });

  it('go as a document when they hold no text', async () => {
    const bytes = pdf(['']);
    make('scan.pdf', bytes);
    const { output, structured } = await open('scan.pdf');
    expect(output.content).toContainEqual({
      type: 'document',
      source: { type: 'base64', media_type: 'application/pdf', data: bytes.toString('base64') },
    });
    expect(structured).toMatchObject({ type: 'pdf', file: { originalSize: bytes.length } });
  });

  it('are refused when broken', async () => {
    make('a.pdf', '%PDF-1.4\nnot really');
    expect(await open('a.pdf')).toMatchObject({ isError: true });
  });
});

describe('notebooks', () => {
  const notebook = (cells: readonly unknown[]) =>
    JSON.stringify({ cells, metadata: {}, nbformat: 4, nbformat_minor: 5 });
  const code = {
    cell_type: 'code',
    id: 'c1',
    execution_count: 2,
    metadata: {},
    source: ['x = 1\n', 'x'],
    outputs: [
      { output_type: 'stream', name: 'stdout', text: ['out\n'] },
      { output_type: 'execute_result', data: { 'text/plain': '1' } },
      { output_type: 'error', ename: 'E', evalue: 'v', traceback: ['\u001b[31mred\u001b[0m'] },
    ],
  };

  it('come as cells with ids and outputs', async () => {
    make('a.ipynb', notebook([{ cell_type: 'markdown', source: '# Title', metadata: {} }, code]));
    const { text, structured } = await open('a.ipynb');
    expect(text).toBe(
      '<cell id="cell-0" type="markdown">\n# Title\n</cell>\n' +
        '<cell id="c1" type="code" [2]>\nx = 1\nx\n<output>\nout\n1\nred\n</output>\n</cell>',
    );
    expect(structured).toEqual({
      type: 'notebook',
      file: {
        filePath: at('a.ipynb'),
        cells: [
          { cellType: 'markdown', source: '# Title', cell_id: 'cell-0' },
          {
            cellType: 'code',
            source: 'x = 1\nx',
            cell_id: 'c1',
            language: 'python',
            execution_count: 2,
            outputs: 'out\n1\nred',
          },
        ],
      },
    });
  });

  it('show sound pictures of outputs and leave damaged ones out', async () => {
    const picture = (data: string) => ({
      ...code,
      outputs: [{ output_type: 'display_data', data: { 'image/png': data } }],
    });
    make('a.ipynb', notebook([picture(png(2, 2).toString('base64')), picture('bm90IHBuZw==')]));
    const { output, text } = await open('a.ipynb');
    expect(text).toContain('[image/png: image 1 below]');
    expect(text).toContain('[image/png, not shown]');
    expect(output.content).toHaveLength(2);
  });

  it('are capped by output and by the whole', async () => {
    const loud = { ...code, outputs: [{ output_type: 'stream', text: 'x'.repeat(20_000) }] };
    make('loud.ipynb', notebook([loud]));
    expect((await open('loud.ipynb')).text.length).toBeLessThan(9000);
    const long = { cell_type: 'markdown', source: 'y'.repeat(30_000), metadata: {} };
    make('long.ipynb', notebook(Array(5).fill(long)));
    expect((await open('long.ipynb')).text).toContain('PARTIAL: cells 1-3 of 5');
    expect((await open('long.ipynb', { offset: 4 })).text).not.toContain('PARTIAL');
  });

  it('that are none are read as text', async () => {
    make('a.ipynb', '{"no": "cells"}');
    expect((await open('a.ipynb')).text).toBe('1\t{"no": "cells"}');
  });
});
