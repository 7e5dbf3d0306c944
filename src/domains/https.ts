import { foreignNames, strangeNameIn } from '../addresses/certificate-names.ts'
import { openKey, sealedAs } from '../addresses/plan.ts'
import { hostOptionsOf } from '../addresses/store.ts'
import type { Domain } from '../addresses/store.ts'
import type { Config } from '../config.ts'
import type { Db } from '../db/index.ts'
import { invalidField } from '../platform/errors.ts'
import type { Secrets } from '../platform/secrets.ts'
import { readOwnCertificate } from './certificate-own.ts'
import type { AskedDomain } from './forms.ts'

type HttpsDeps = { db: Db; secrets: Secrets; config: Config }

type HostOptions = ReturnType<typeof hostOptionsOf>

/**
 * The HTTPS settings of a host after a change; `current` is what it has, or had under another name. Throws
 * `invalid` for a certificate that doesn't match, or is missing.
 */
export function httpsAfter(
  deps: HttpsDeps,
  { host, current, asked }: { host: string; current: Domain; asked: AskedDomain },
): HostOptions {
  const kind = asked.https === undefined ? current.https : (asked.https ?? 'auto')
  if (asked.hsts && kind === 'off')
    throw invalidField('hsts', 'needs HTTPS, which is off for this host.')
  const hsts = kind !== 'off' && (asked.hsts === undefined ? current.hsts : (asked.hsts ?? false))
  const isNew = current.https !== 'own' || asked.certificate || asked.key
  if (kind === 'own' && deps.config.edge === 'external' && isNew)
    throw invalidField(
      'https',
      'can’t be own with DAVIT_EDGE=external, because your Caddy only uses the certificates in its own settings. Add the certificate there.',
    )
  if (kind === 'own')
    return { https: kind, hsts, ...certificateAfter(deps, { host, current, asked }) }
  for (const field of ['certificate', 'key'] as const)
    if (asked[field]) throw invalidField(field, `is only used with https=own; here it is ${kind}.`)
  return { https: kind, hsts, certificate: null, certificateKey: null }
}

function certificateAfter(
  { db, secrets, config }: HttpsDeps,
  { host, current, asked }: { host: string; current: Domain; asked: AskedDomain },
) {
  const { certificate, key } = asked
  const stored = current.https === 'own' ? current : null
  if (certificate && key) return sealed({ certificate, key })
  if (certificate)
    throw invalidField('key', 'is missing. Enter the private key of the certificate.')
  if (key) throw invalidField('certificate', 'is missing. Enter the certificate of the key.')
  if (!stored)
    throw invalidField('certificate', 'is missing. Enter a certificate with its private key.')
  if (current.host === host) return pickStored(stored)
  const opened = openKey({ secrets }, stored)
  if (opened === null)
    throw invalidField('certificate', 'has a key that can no longer be read. Enter both again.')
  return sealed({ certificate: stored.certificate!, key: opened })

  function sealed(given: { certificate: string; key: string }) {
    const read = readOwnCertificate(given, { host })
    const foreign = foreignNames(db, config)({ host, certificate: read.certificate })
    if (foreign !== null)
      throw invalidField(
        'certificate',
        `is also for ${foreign}, which isn’t yours. Use one for your own names.`,
      )
    const strange = strangeNameIn(db, { host, certificate: read.certificate })
    if (strange !== null)
      throw invalidField(
        'certificate',
        `is also for ${strange}, which isn’t one of your domains. Add that domain first, or use a certificate without it.`,
      )
    return {
      certificate: read.certificate,
      certificateKey: secrets.seal(read.key, sealedAs(host)),
    }
  }
}

const pickStored = ({ certificate, certificateKey }: Domain) => ({ certificate, certificateKey })
