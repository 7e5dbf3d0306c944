import type { Db } from '../db/index.ts'
import { emit } from '../notifications/emit.ts'
import { certificateFailing, certificateIssued } from '../notifications/texts.ts'
import { findCertificate, getHostPlace, setCertificate } from './certificate-store.ts'
import type { Certificate } from './certificate-store.ts'

/** Stores what was found out of a host, and what its owner is told of it; undefined for one that was removed. */
export const storeCertificate = (
  db: Db,
  host: string,
  { values, ownerId }: { values: Partial<Certificate>; ownerId: string | null | undefined },
) =>
  db.transaction(() => {
    setCertificate(db, host, values)
    if (ownerId !== undefined && 'errorMessage' in values) noteCertificate(db, host, { ownerId })
  })

/**
 * Tells the owner of a host that its certificate isn't issued or renewed, and when it is. One that was never
 * requested, such as for a name that doesn't point here yet, is shown on the page of its domain only.
 */
export function noteCertificate(
  db: Db,
  host: string,
  { ownerId }: { /** Null for Davit's own hosts. */ ownerId: string | null },
) {
  const row = findCertificate(db, host)
  if (!row || (row.status !== 'failed' && row.status !== 'issued')) return
  const { errorMessage: message, errorHint: hint, notAfter } = row
  const told = message
    ? certificateFailing({ host, message, hint })
    : notAfter && certificateIssued({ host, notAfter })
  if (!told) return
  const place = getHostPlace(db, host)
  const href = place.environmentId
    ? `/envs/${place.environmentId}/domains`
    : place.serviceId
      ? `/services/${place.serviceId}/domains`
      : ownerId
        ? '/dashboard'
        : '/settings/edge'
  emit(db, { ...place, ...told, ownerId, subject: host, href, of: `certificate ${host}` })
}
