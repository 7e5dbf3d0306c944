import { existsSync } from 'node:fs'
import { join } from 'node:path'
import type { Config } from '../config.ts'
import { authorityName } from '../domains/certificate-explain.ts'
import { readPlan } from './current.ts'
import { ok, wrong } from './finding.ts'
import type { Finding } from './finding.ts'

const letsEncrypt = 'https://acme-v02.api.letsencrypt.org/directory'

/** Milliseconds by which this clock may differ from the authority's: tokens and logs stay usable. */
const mostDrift = 30_000

/** Also reports whether the certificate authority can be reached. */
export async function checkClock(config: Config, { run = '/run' } = {}): Promise<Finding[]> {
  return [...judgeSync(join(run, 'systemd/timesync')), ...(await judgeAuthority(config))]
}

function judgeSync(folder: string) {
  if (!existsSync(folder)) return []
  return existsSync(join(folder, 'synchronized'))
    ? [ok('clock', 'synchronised by systemd-timesyncd')]
    : [
        wrong(
          'clock',
          'systemd-timesyncd runs, but hasn’t synchronised it since the machine started',
          'Let the machine reach an NTP server (UDP port 123), or name one in /etc/systemd/timesyncd.conf.',
        ),
      ]
}

/** Only contacts an authority from which Davit requests certificates anyway. */
async function judgeAuthority(config: Config) {
  if (!usesAuthority(config)) return []
  const url = config.acme.directory ?? letsEncrypt
  const name = authorityName(config.acme.directory)
  const began = Date.now()
  const answer = await fetch(url, {
    signal: AbortSignal.timeout(8_000),
    // a wrong clock makes its certificate look invalid, and only the date is read
    tls: { rejectUnauthorized: false },
  }).catch(() => null)
  await answer?.body?.cancel()
  if (!answer)
    return [
      wrong(
        'authority',
        `${name} can’t be reached, so no certificate is issued or renewed`,
        `Let the server connect to ${new URL(url).host}: check its firewall and resolvers.`,
      ),
    ]
  const reached = ok('authority', `${name} responds`)
  const time = Date.parse(answer.headers.get('date') ?? '')
  if (Number.isNaN(time)) return [reached]
  const drift = (began + Date.now()) / 2 - time
  const seconds = Math.round(Math.abs(drift) / 1000)
  return [
    reached,
    Math.abs(drift) <= mostDrift
      ? ok('clock', `the same as that of ${name}`)
      : wrong(
          'clock',
          `${seconds.toLocaleString('en')} seconds ${drift > 0 ? 'ahead of' : 'behind'} that of ${name}`,
          'Synchronise it by NTP: a wrong clock makes certificates, logins and tokens fail.',
        ),
  ]
}

const usesAuthority = (config: Config) =>
  (config.edge === 'auto' || config.edge === 'caddy') &&
  (readPlan(config)?.hosts ?? []).some(({ https }) => https.kind === 'auto')
