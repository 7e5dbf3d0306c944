import type { Config } from '../config.ts'
import { isLocked } from '../db/instance-lock.ts'
import { describeOwn } from '../domains/certificate-own.ts'
import { findCertificate } from '../domains/certificate-store.ts'
import type { Certificate } from '../domains/certificate-store.ts'
import { counted } from '../web/units.ts'
import { openCurrent, planIn } from './current.ts'
import { dayOf, ok, wrong } from './finding.ts'
import type { Finding } from './finding.ts'

/** Milliseconds before its end from which a certificate is in danger while Davit doesn't run. */
const endsSoon = 7 * 86_400_000

/** Checks, from the database alone, that names have valid certificates, and when the first one ends. */
export function checkCertificates(config: Config): Finding[] {
  if (config.edge === 'direct') return []
  using opened = openCurrent(config)
  if (!opened) return []
  const { db } = opened
  const isRunning = isLocked(config.dataDir)
  const known = planIn(db, config).hosts.map(({ name, https }) => {
    if (https.kind === 'own') {
      // a private authority may be intended
      const own = describeOwn(https.certificate, new Date(), { isPrivateFine: true })
      return { name, ...own }
    }
    const row = https.kind === 'auto' ? findCertificate(db, name) : undefined
    return { name, notAfter: row?.notAfter, error: row ? troubleOf(row, { isRunning }) : null }
  })
  const troubles = known.flatMap(({ name, error }) =>
    error ? [wrong('https', `${name}: ${error.message}`, error.hint)] : [],
  )
  return [...troubles, ...summary(known)]
}

function summary(known: { notAfter?: Date | null | undefined; error: object | null }[]) {
  const ends = known.flatMap(({ notAfter, error }) => (notAfter && !error ? [notAfter] : []))
  if (ends.length === 0) return []
  const first = new Date(Math.min(...ends.map(Number)))
  const is = `${counted(ends.length, 'valid certificate')}, the first to end on ${dayOf(first)}`
  return [ok('https', is)]
}

/** A problem of Davit's last check, or an end that has come close since. */
function troubleOf(
  { status, notAfter, errorMessage, errorHint, dnsOk }: Certificate,
  { isRunning }: { isRunning: boolean },
) {
  // a name that points elsewhere is a finding of the domains
  const isNoted = status === 'failed' || status === 'issued' || dnsOk === true
  if (errorMessage && isNoted)
    return { message: errorMessage, hint: errorHint ?? 'See the domain’s page.' }
  const left = notAfter ? notAfter.getTime() - Date.now() : Infinity
  if (left > (isRunning ? 0 : endsSoon)) return null
  return {
    message: `Its certificate ${left > 0 ? 'ends' : 'ended'} on ${dayOf(notAfter!)}, and no newer one is known.`,
    hint: isRunning
      ? 'Choose Check now on the domain’s page, and see Davit’s log.'
      : 'Start Davit, which renews it by itself.',
  }
}
