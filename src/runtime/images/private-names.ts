import { randomBytesOf } from '../../platform/secrets.ts'
import type { ImageReference } from '../../registries/image-registry.ts'

/** This host can't exist, so an image with such a name can't be pulled. */
export const privateRegistry = 'davit.invalid'

/**
 * Returns a name that no one else can guess, for an image that only its owner may use. It contains the
 * owner's name for the image, for `shownImage`.
 */
export function privateName({ registry, path, tag, digest }: ImageReference) {
  const secret = Buffer.from(randomBytesOf(16)).toString('hex')
  const host = registry.replace(':', '__').replace(/[^a-z0-9._-]/g, '-')
  return `${privateRegistry}/${secret}/${host}/${path}:${tag ?? digest!.replace(':', '.')}`
}

const privateNames = new RegExp(
  `${privateRegistry.replace('.', '\\.')}/[0-9a-f]{32}/([^/\\s]+)/`,
  'g',
)

/** Replaces private names in a text by images as their owner wrote them, or as Docker shortens them. */
export const shownImage = (text: string) =>
  text
    .replace(privateNames, (_, host: string) => `${host.replace('__', ':')}/`)
    .replace(/(?<![\w./-])docker\.io\/(?:library\/)?/g, '')
