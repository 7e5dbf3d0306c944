/** Number of colours that assets/marks.css has for monograms. */
const colours = 8

/** The first letters of a name on its own colour, beside that name. */
export const Monogram = ({
  name,
  seed,
}: {
  name: string
  /** Determines the colour: an id keeps it when the name changes. */
  seed: string
}) => (
  <span class="monogram" data-colour={colourOf(seed)} aria-hidden="true">
    {initialsOf(name)}
  </span>
)

const graphemes = new Intl.Segmenter('en', { granularity: 'grapheme' })

/** Two letters for several words, “MS” for “My shop”; one if their script would join the letters. */
export function initialsOf(name: string) {
  const [first, second] = name
    .trim()
    .split(/[\s\-_./]+/u)
    .filter(Boolean)
  const letter = firstOf(first ?? '?')
  if (!second || !standsApart.test(letter)) return letter
  const next = firstOf(second)
  return standsApart.test(next) ? letter + next : letter
}

const standsApart = /^[\p{Script=Latin}\p{Script=Greek}\p{Script=Cyrillic}\p{N}]/u

const firstOf = (word: string) =>
  graphemes.segment(word)[Symbol.iterator]().next().value!.segment.toUpperCase()

function colourOf(seed: string) {
  let sum = 0
  for (const character of seed) sum = (sum * 31 + character.codePointAt(0)!) % 0xffff_fffb
  return sum % colours
}
