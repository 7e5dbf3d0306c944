import { Failure } from '../../platform/errors.ts'
import { checkSignature } from '../../platform/minisign.ts'
import type { Source } from './source.ts'

const sumsName = 'SHA256SUMS'

type Vouching = {
  /** The hash of the file that was read, in hex. */
  hash: string
  /** The hash that the operator expects; null uses the checksums beside the file. */
  sha256: string | null
  /** The key that must have signed the checksums; null requires no signature. */
  publicKey: string | null
}

/** Throws unless the file matches a release or the operator's hash; returns which of them verified it. */
export async function verifyDownload(
  source: Source,
  { hash, sha256, publicKey }: Vouching,
): Promise<string> {
  if (sha256 !== null) {
    if (sha256.toLowerCase() === hash) return 'it has the SHA-256 that you gave'
    throw wrong(source, `has the SHA-256 ${hash}, not ${sha256}`)
  }
  const sums = await source.beside(sumsName)
  if (!sums)
    throw new Failure(
      'upgrade_unverified',
      `There is no ${sumsName} beside ${source.place}, so nothing says that the file is whole.`,
      'Use the files of a release, or give the checksum that it must have with --sha256.',
    )
  if (publicKey !== null) await checkSigned(source, sums, publicKey)
  const lines = Buffer.from(sums).toString('utf8').split('\n')
  if (!lines.some((line) => line.startsWith(`${hash}  `)))
    throw wrong(source, `isn’t the one in ${sumsName}: its SHA-256 is ${hash}`)
  return publicKey === null
    ? `it is listed in ${sumsName} beside it`
    : `it is listed in ${sumsName}, which has a valid signature`
}

async function checkSigned(source: Source, sums: Uint8Array, publicKey: string) {
  const name = `${sumsName}.minisig`
  const signature = await source.beside(name)
  if (!signature)
    throw new Failure(
      'release_signature',
      `The release at ${source.place} isn’t signed: there is no ${name}.`,
      'Use a signed release, or give the checksum that the file must have with --sha256.',
    )
  checkSignature(sums, { name: sumsName, publicKey, signature: Buffer.from(signature).toString() })
}

const wrong = ({ place }: Source, why: string) =>
  new Failure(
    'upgrade_checksum',
    `The file ${place} ${why}.`,
    'It is damaged or another one: download it again. Nothing was changed.',
  )
