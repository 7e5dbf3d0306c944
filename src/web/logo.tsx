import { Monogram } from './monogram.tsx'
import { logoNames } from './logo-names.ts'
import { assetPath } from './static.ts'

type LogoName = (typeof logoNames)[number]

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
export function logoOf(templateOrImage: string): LogoName | null {
  const name = templateOrImage.split('@')[0]!.split('/').at(-1)!.split(':')[0]!
  const known = aliases.get(name) ?? name
  return logoNames.find((logo) => logo === known) ?? null
}

/** Names of images whose logo has another name. */
const aliases = new Map<string, LogoName>([
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
