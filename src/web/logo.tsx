import { Monogram } from './monogram.tsx'
import { logoNames } from './logo-names.ts'
import { assetPath } from './static.ts'

type LogoName = (typeof logoNames)[number]

/** The logo of what a template or an image has in it, beside its name; a monogram where there is none. */
export const Logo = ({
  of,
  name,
}: {
  /** A template's name, or an image. */
  of: string
  /** What the monogram stands for. */
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

/** Its name in the file of logos; null where there is none. */
export function logoOf(templateOrImage: string): LogoName | null {
  const name = templateOrImage.split('@')[0]!.split('/').at(-1)!.split(':')[0]!
  const known = aliases.get(name) ?? name
  return logoNames.find((logo) => logo === known) ?? null
}

/** Names that images have for it. */
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
