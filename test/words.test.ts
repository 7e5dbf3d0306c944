import { describe, expect, test } from 'bun:test'
import { counted } from '../src/web/units.ts'
import { commentsIn, literalsIn, proseOf, type Sentence, sentencesOf } from './support/sentences.ts'

/** Phrases that no reader should meet, and what to say instead. */
const banned: [RegExp, string][] = [
  [/\bwants? (?!to\b)/i, 'must be, needs, requires, or “Enter …”'],
  [/\banew\b/i, 'again, recreated, rebuilt'],
  [/\bto be had\b/i, 'isn’t available, couldn’t be pulled'],
  [/\bcan not\b/i, 'can’t'],
  [/\bnobody\b(?= )|(?<= )nobody\b/i, 'no one; private'],
  [/\bmend(s|ed)?\b/i, 'fix'],
  [/\b(put|fails?|end|refused|says?|explained),? in words\b/i, 'explained'],
  [/\bway back\b/i, 'rollback; “This can’t be undone.”'],
  [/\b(is|are|be) taken up again\b|\btakes up (what|the|a)\b/i, 'resumes'],
  [/\b(taken|takes?) away\b/i, 'removes, drops'],
  [/\bin good order\b/i, 'cleanly, normally'],
  [/\bfor ever\b/i, 'forever'],
  [/\basks for (it|them)sel(f|ves) again\b/i, 'refreshes itself'],
  [/\bwhich is the most\b|\bthe most is\b/i, 'the maximum (is)'],
  [/\bgone (by now|already)\b|\bis gone,? already\b/i, 'was removed; had already been removed'],
  [/\bunder way\b[^.]*\bnothing to cancel\b/i, 'isn’t running, so there is nothing to cancel'],
  [/\bits own log has\b/i, 'Davit’s log has'],
  [/\bone (row|entry) too many\b/i, 'plus one more row'],
  [/\bas it should be\b/i, 'correctly, as configured'],
  [/\bif it stays so\b/i, 'If it keeps failing'],
  [/\btells (of|the truth)\b/i, 'reports, shows'],
  [/\blook(s|ed)? at (its|the) (memory|log|load)\b/i, 'Check …'],
]

/** What only a page, an error, a hint or a log may not say. */
const bannedInProduct: [RegExp, string][] = [
  [/\b(didn’t|doesn’t|did not|does not|no) answer\b/i, 'doesn’t respond, no response'],
  [/\bcannot\b/i, 'can’t'],
  [/\bthe engine\b(?! is (off|away))/i, 'Docker'],
  [/\bbegins? with (http|-{5}|\/)/i, 'starts with'],
  [/\bof your own\b/i, 'your own …'],
  [/\bis(n’t| not) to be\b/i, 'can’t be, must not be'],
  [
    /(?<=[\s\d…])[kKMGT]B\b|^[kKMGT]B\b(?=.)/,
    'KiB, MiB, GiB: memory and sizes are in powers of 1024',
  ],
  [/^(OK|Confirm|Set them|Do it)$/, 'a verb and its object'],
]

const found = (sentences: Sentence[], list: [RegExp, string][]) =>
  sentences.flatMap(({ file, text }) =>
    list.flatMap(([phrase, instead]) => {
      const hit = phrase.exec(text)
      return hit === null ? [] : [`${file}: “${around(text, hit)}” Say: ${instead}`]
    }),
  )

const around = (text: string, { 0: hit, index }: RegExpExecArray) =>
  text.slice(Math.max(0, index - 50), index + hit.length + 40)

const code = ['src/**/*.{ts,tsx}', 'assets/*.{js,css}']
const written = ['README.md', 'assets/docs/*.md']

describe('plain words', () => {
  test('are in each comment and text of the code, and in the documentation', async () => {
    const sentences = await sentencesOf([...code, ...written])
    expect(sentences.length).toBeGreaterThan(8_000)
    expect(found(sentences, banned)).toEqual([])
  })

  test('are in what pages, errors, hints and logs say', async () => {
    expect(found(await sentencesOf(['src/**/*.{ts,tsx}'], 'texts'), bannedInProduct)).toEqual([])
  })

  test('are in the names of tests', async () => {
    expect(found(await sentencesOf(['test/**/*.{ts,tsx}'], 'titles'), banned)).toEqual([])
  })

  test('are looked for in texts, JSX, templates, comments and prose, and not in code', () => {
    const source = `
      /** Made anew. */
      const wants = { anew: 1 } // nobody knows
      const page = <p title="can not">It {wants} to be <b>had no way back</b></p>
      throw refuse(\`\${wants.anew} is gone already\`, /anew"/, 'mend it')`
    const texts = [...commentsIn(source), ...literalsIn(source)].map((text) => ({
      file: 'x',
      text: text.trim(),
    }))
    expect(found(texts, banned).map((line) => line.split(' Say: ')[1])).toEqual(
      ['again', 'no one', 'can’t', 'rollback', 'was removed', 'fix'].map((start) =>
        expect.stringMatching(new RegExp(`^${start}`)),
      ),
    )
    expect(proseOf('It wants `anew`.\n```\nnobody\n```\n').join('')).not.toMatch(/anew|nobody/)
  })
})

test('one is not several: 1 file, 2 files, 2,000 files', () => {
  expect([1, 2, 0, 2000].map((count) => counted(count, 'file'))).toEqual([
    '1 file',
    '2 files',
    '0 files',
    '2,000 files',
  ])
  expect(counted(1, 'entry', 'entries')).toBe('1 entry')
})
