import type { Db } from '../db/index.ts'
import type { Https } from '../edge/plan.ts'
import { emit } from '../notifications/emit.ts'
import { getOpen, listOpenOf, updateEvent } from '../notifications/store.ts'
import {
  certificateEnding,
  certificateFailing,
  certificateIssued,
  certificateOver,
} from '../notifications/texts.ts'
import type { News } from '../notifications/texts.ts'
import { describeCertificate, endingOf } from './certificate-own.ts'
import { findCertificate, getHostPlace, setCertificate } from './certificate-store.ts'
import type { Certificate } from './certificate-store.ts'
import { day } from './certificate-times.ts'

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
  if (told) tellNow(db, host, { ownerId, told })
}

/**
 * Tells the owner of a host, at most daily, that the certificate they uploaded ends soon, that it has expired, and
 * when it is replaced.
 */
export function noteOwn(
  db: Db,
  host: string,
  { certificate, ownerId }: { certificate: string; ownerId: string | null },
) {
  const { notAfter } = describeCertificate(certificate)
  const key = keyOf(db, host, { ownerId })
  const issued = certificateIssued({ host, notAfter })
  const ending = endingOf({ notAfter })
  if (!ending) return db.transaction(() => tellNow(db, host, { ownerId, told: issued }))
  const isOver = notAfter <= new Date()
  const told = (isOver ? certificateFailing : certificateEnding)({ host, ...ending })
  const open = getOpen(db, isOver ? key : soon(key))
  if (open?.text === told.text && Date.now() - open.lastAt.getTime() < day) return
  db.transaction(() => {
    if (isOver) return tellNow(db, host, { ownerId, told })
    tell(db, host, { ownerId, told: issued, of: key })
    tell(db, host, { ownerId, told, of: soon(key) })
  })
}

/** Tells what is known of hosts that were just stored: an authority's limit can put off their check by days. */
export function noteStored(
  db: Db,
  hosts: Iterable<string>,
  present: { https: ReadonlyMap<string, Https>; owners: ReadonlyMap<string, string | null> },
) {
  for (const host of hosts) {
    const https = present.https.get(host)
    const ownerId = present.owners.get(host)
    if (ownerId === undefined) continue
    if (https?.kind === 'own') noteOwn(db, host, { certificate: https.certificate, ownerId })
    if (https?.kind !== 'auto' || findCertificate(db, host)?.status !== 'failed') continue
    if (!getOpen(db, keyOf(db, host, { ownerId })))
      db.transaction(() => noteCertificate(db, host, { ownerId }))
  }
}

/** A certificate that is valid for long ends both; one that fails takes the place of the end that was to come. */
function tellNow(db: Db, host: string, { ownerId, told }: { ownerId: string | null; told: News }) {
  const of = keyOf(db, host, { ownerId })
  const ending = getOpen(db, soon(of))
  if (told.level === 'resolved') tell(db, host, { ownerId, told, of: soon(of) })
  else if (ending) updateEvent(db, ending.id, { endedAt: new Date() })
  tell(db, host, { ownerId, told, of })
}

function tell(
  db: Db,
  host: string,
  { ownerId, told, of }: { ownerId: string | null; told: News; of: string },
) {
  const place = getHostPlace(db, host)
  const href = place.environmentId
    ? `/envs/${place.environmentId}/domains`
    : place.serviceId
      ? `/services/${place.serviceId}/domains`
      : ownerId
        ? '/dashboard'
        : '/settings/edge'
  emit(db, { ...place, ...told, ownerId, subject: host, href, of })
}

/**
 * Ends what was told of hosts that were removed since, lead to something else, or need no certificate. Takes the
 * present ones.
 */
export const endNotices = (
  db: Db,
  owners: ReadonlyMap<string, string | null>,
  needsOne: (host: string) => boolean,
) =>
  db.transaction(() => {
    for (const { of, subject, href, ...place } of listOpenOf(db, [prefix])) {
      const [host = ''] = of!.slice(prefix.length).split(' ')
      const ownerId = owners.get(host)
      const key = ownerId !== undefined && keyOf(db, host, { ownerId })
      const isPresent = key && (of === key || of === soon(key))
      if (isPresent && needsOne(host)) continue
      const { projectId, environmentId, serviceId } = place
      emit(db, {
        ...{ ownerId: place.ownerId, projectId, environmentId, serviceId },
        ...{ ...certificateOver({ host }), subject, href, of },
      })
    }
  })

const prefix = 'certificate '

/** Of an uploaded certificate that ends soon, so that its end is told too. */
const soon = (key: string) => `${key} soon`

/** Names the place too: a host that leads to something else has a failure of its own. */
function keyOf(db: Db, host: string, { ownerId }: { ownerId: string | null }) {
  const { environmentId, serviceId } = getHostPlace(db, host)
  return `${prefix}${host} of ${environmentId ?? serviceId ?? ownerId ?? 'Davit'}`
}
