import { assetPath, readAsset } from './static.ts'

const logoNames = new Set(
  Array.from(readAsset('logos.svg').matchAll(/<symbol id="([^"]+)"/g), ([, name]) => name!),
)

/** The logo of a template or an image, beside its name; a monogram without one. */
export const Logo = ({
  of,
  name,
}: {
  /** A template's name, or an image. */
  of: string
  /** The monogram's letters come from this name. */
  name: string
}) => {
  const logo = logoOf(of)
  if (!logo) return <Monogram name={name} seed={of} />
  return (
    <span class="logo" aria-hidden="true">
      <svg viewBox="0 0 24 24">
        <use href={`${assetPath('logos.svg')}#${logo}`} />
      </svg>
    </span>
  )
}

/** Its name in the file of logos; null without one. */
export function logoOf(templateOrImage: string): string | null {
  const name = templateOrImage.split('@')[0]!.split('/').at(-1)!.split(':')[0]!
  const known = aliases.get(name) ?? name
  return logoNames.has(known) ? known : null
}

/** Names of images whose logo has another name. */
export const aliases = new Map([
  ['postgres', 'postgresql'],
  ['pgvector', 'postgresql'],
  ['postgis', 'postgresql'],
  ['mongo', 'mongodb'],
  ['eclipse-mosquitto', 'mosquitto'],
  ['clickhouse-server', 'clickhouse'],
  ['community-edition', 'plausible'],
  ['immich-server', 'immich'],
  ['changedetection.io', 'changedetection'],
])

/** Number of colours that assets/log-processes.css has. */
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
  <span class={`monogram p${colourOf(seed)}`} aria-hidden="true">
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
