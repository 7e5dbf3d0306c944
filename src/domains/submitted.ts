import type { Context } from 'hono'
import type { Domain } from '../addresses/store.ts'
import { clientOf } from '../web/client.ts'
import { enterAgain } from '../web/draft.ts'
import type { Draft } from '../web/draft.ts'
import { fieldsOf, uploadedText } from '../web/form-fields.ts'
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

/** Without secrets and files, which no page has again even after input: it says which ones to enter again. */
export async function shownAgain(c: Context, draft: Draft): Promise<Draft> {
  const { key, basic_auth: accounts, ...values } = draft.values
  const lines = accounts?.split('\n')
  const fields = await fieldsOf(c)
  const errors = {
    ...(key && { key: enterAgain }),
    ...(lines?.some((line) => /:./.test(line)) && { basic_auth: enterAgain }),
    ...Object.fromEntries(uploads.filter(isUploaded).map((name) => [name, chooseAgain])),
    ...draft.errors,
  }
  const names = lines?.map((line) => line.split(':')[0]).join('\n')
  return {
    ...draft,
    errors,
    values: { ...values, ...(names !== undefined && { basic_auth: names }) },
  }

  function isUploaded(name: string) {
    const file = fields?.get(`${name}_file`)?.at(-1)
    return file instanceof File && file.size > 0
  }
}

const uploads = ['certificate', 'key']
const chooseAgain = 'Choose the file again: a page can’t keep it.'
