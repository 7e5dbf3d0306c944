import { expect, test } from 'bun:test'
import { growth, linear } from '../support/cost.ts'
import { ansiHtml } from '../../src/web/ansi.ts'
import { noOrigin } from '../../src/logs/block.ts'
import { lineHtml } from '../../src/logs/log-line.tsx'

const esc = '\u001b'

test('plain text is only escaped', () => {
  expect(ansiHtml('if (a < b && c > d) "quoted"\tend')).toBe(
    'if (a &lt; b &amp;&amp; c &gt; d) "quoted"\tend',
  )
})

test('colours and weights become classes, and end with a reset', () => {
  expect(ansiHtml(`${esc}[31mred${esc}[0m ${esc}[1;4;92mbright${esc}[m.`)).toBe(
    '<span class="f1">red</span> <span class="f10 bold underline">bright</span>.',
  )
  expect(ansiHtml(`${esc}[2mdim${esc}[22m plain`)).toBe('<span class="dim">dim</span> plain')
})

test('a style that is not closed ends with the line', () => {
  expect(ansiHtml(`${esc}[44mblue`)).toBe('<span class="b4">blue</span>')
})

test('equal styles share one element', () => {
  expect(ansiHtml(`${esc}[31ma${esc}[31mb${esc}[39;31mc`)).toBe('<span class="f1">abc</span>')
})

test('indexed and true colours become the nearest of the sixteen', () => {
  expect(ansiHtml(`${esc}[38;5;196mx`)).toBe('<span class="f9">x</span>')
  expect(ansiHtml(`${esc}[38;5;22mx`)).toBe('<span class="f2">x</span>')
  expect(ansiHtml(`${esc}[48;5;238mx`)).toBe('<span class="b8">x</span>')
  expect(ansiHtml(`${esc}[38;2;255;120;130mx`)).toBe('<span class="f9">x</span>')
  expect(ansiHtml(`${esc}[38:2::0:0:180mx`)).toBe('<span class="f4">x</span>')
  expect(ansiHtml(`${esc}[38;2;250;250;250;1mx`)).toBe('<span class="f15 bold">x</span>')
})

test('inverse exchanges the colours, the default ones too', () => {
  expect(ansiHtml(`${esc}[7mx`)).toBe('<span class="fi bi">x</span>')
  expect(ansiHtml(`${esc}[31;7mx`)).toBe('<span class="b1">x</span>')
})

test('a text on a coloured ground has the colour of the log, in which it can be read', () => {
  expect(ansiHtml(`${esc}[30;42mx`)).toBe('<span class="b2">x</span>')
  expect(ansiHtml(`${esc}[31;42;7mx${esc}[27my`)).toBe(
    '<span class="b1">x</span><span class="b2">y</span>',
  )
})

test('what would turn round the order of letters is left out', () => {
  expect(ansiHtml('a\u202eb\u2066c\u2069')).toBe('abc')
})

test('titles, links, cursor moves, alternate screens and bells are left out', () => {
  const noise = `${esc}]0;title\u0007${esc}]8;;http://x/${esc}\\${esc}[2K${esc}[1A${esc}[?1049h${esc}(B${esc}7\u0008\u0007\u0000`
  expect(ansiHtml(`a${noise}b`)).toBe('ab')
  expect(ansiHtml(`a${esc}Pq#0;2;0${esc}\\b\u009b31mc`)).toBe('ab<span class="f1">c</span>')
})

test('a sequence that breaks off leaves nothing behind', () => {
  for (const cut of ['', '[', '[3', '[38;2;1', ']0;title', '(', 'P1'])
    expect(ansiHtml(`a${esc}${cut}`)).toBe('a')
})

test('markup in text, titles and codes is never markup', () => {
  const line = `<script>${esc}[31"><img>m<b>${esc}]0;<i>\u0007&lt;`
  expect(ansiHtml(line)).toBe('&lt;script&gt;&gt;&lt;img&gt;m&lt;b&gt;&amp;lt;')
})

test('colours out of range change nothing', () => {
  expect(ansiHtml(`${esc}[38;5;999mx${esc}[38;2;1;2my${esc}[38mz`)).toBe('xyz')
})

test('a line carries its number, its stream and its text', () => {
  expect(lineHtml({ ...noOrigin, sequence: 7, time: 0, stream: 'stderr', text: '<x>' })).toBe(
    '<div class="line stderr" id="L7"><a href="#L7" tabindex="-1"><time datetime="1970-01-01T00:00:00.000Z">01-01 00:00:00.000</time></a><span>&lt;x&gt;</span></div>',
  )
})

test.each([
  ['colours and their ends', `${esc}[38;2;1;2;3m.${esc}[m`],
  ...[`${esc}[`, `${esc}]`, `${esc}[1;`, '\u009b1', `${esc}P`, `${esc}[1 `].map((piece) => [
    `${JSON.stringify(piece)} without end`,
    piece,
  ]),
])('%s take no more than linear time', (_, piece) => {
  expect(growth((length) => ansiHtml(piece!.repeat(length)), 8_192)).toBeLessThan(linear)
})

test('nor does a number without end', () => {
  const read = (length: number) => ansiHtml(`${esc}[${'1'.repeat(length)}`)
  expect(growth(read, 32_768)).toBeLessThan(linear)
})
