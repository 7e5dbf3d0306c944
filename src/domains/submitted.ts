import type { Context } from 'hono'
import type { Domain } from '../addresses/store.ts'
import { clientOf } from '../web/client.ts'
import type { Draft } from '../web/draft.ts'
import { uploadedText } from '../web/form-fields.ts'
import { maxCertificate, maxKey } from './certificate-own.ts'
import type { AskedDomain } from './forms.ts'

/** A certificate and its key may be uploaded as files. */
export async function withUploads(c: Context, asked: AskedDomain): Promise<AskedDomain> {
  const certificate = await uploadedText(c, 'certificate', { max: maxCertificate })
  const key = await uploadedText(c, 'key', { max: maxKey })
  return {
    ...asked,
    ...(certificate !== null && { certificate }),
    ...(key !== null && { key }),
  }
}

/**
 * A page's form sends all its fields. When it gives a domain another name, the HTTPS settings that are as before
 * weren't chosen for the paths that this name may have already.
 */
export function withoutKept(
  c: Context,
  { asked, current }: { asked: AskedDomain; current: Domain | null },
): AskedDomain {
  const { https, hsts, ...others } = asked
  const { host, certificate, key } = others
  const isMoved = current && host !== undefined && host !== current.host
  if (!isMoved || clientOf(c) === 'program') return asked
  const isHttpsKept = https === current.https && !certificate && !key
  return {
    ...others,
    ...(!isHttpsKept && { https }),
    ...(hsts !== current.hsts && { hsts }),
  }
}

/** Without secrets, which no page shows even after input. */
export function shownAgain(draft: Draft): Draft {
  const { key: _, basic_auth: accounts, ...values } = draft.values
  if (accounts === undefined) return { ...draft, values }
  const names = accounts.split('\n').map((line) => line.split(':')[0]!)
  return { ...draft, values: { ...values, basic_auth: names.join('\n') } }
}
