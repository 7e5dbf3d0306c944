import { bytes } from '../web/units.ts'
import type { NewEvent } from './emit.ts'
import { evidenceOf } from './evidence.ts'
import type { Evidence } from './evidence.ts'

/*
 * What people are told, in one place: what happened, why, and what to do. Values from outside stand in the
 * text, never in the markup; each sender escapes them.
 */

export type News = Pick<NewEvent, 'kind' | 'level' | 'title' | 'text' | 'todo'>

export const appName = (project: { name: string }, environment: { name: string }) =>
  `${project.name} (${environment.name})`

/** Such as “shop (production)”, or the name of a service. */
type Subject = { subject: string }

type Deployed = Subject & {
  number: number
  commit: { hash: string; message: string | null } | null
}

const commitOf = ({ commit }: Deployed) => {
  const [line = ''] = commit?.message?.split('\n') ?? []
  return commit ? ` Commit ${commit.hash.slice(0, 7)}${line && `: ${line.slice(0, 200)}`}` : ''
}

export const deploymentFailed = (
  of: Deployed & {
    message: string
    hint: string
    /** The number of the version that stays live, and whether its containers had been replaced. */
    live: { number: number; isBack: boolean } | null
    evidence?: Evidence
  },
): News => {
  const { subject, number, message, live } = of
  const stays = live
    ? `Version #${live.number} ${live.isBack ? 'runs again' : 'stays live'}.`
    : 'No version is live.'
  return {
    kind: live?.isBack ? 'deployment_reverted' : 'deployment_failed',
    level: 'failure',
    title: live?.isBack
      ? `${subject} went back to #${live.number}`
      : `Deployment #${number} of ${subject} failed`,
    text: `${live?.isBack ? `Deployment #${number} failed: ` : ''}${message} ${stays}${of.evidence ? evidenceOf(of.evidence) : ''}${commitOf(of)}`,
    todo: of.hint,
  }
}

export const deploymentSucceeded = (
  of: Deployed & { url: string | null; failedNumber: number | null },
): News => {
  const { subject, number, url, failedNumber } = of
  const at = url ? ` It runs at ${url}.` : ''
  const isBack = failedNumber !== null
  return {
    kind: isBack ? 'deployment_recovered' : 'deployment_succeeded',
    level: isBack ? 'resolved' : 'info',
    title: `Deployment #${number} of ${subject} is live`,
    text: `${isBack ? `Deployment #${failedNumber} had failed.` : 'It succeeded.'}${at}${commitOf(of)}`,
    todo: null,
  }
}

type OfProcess = Subject & { process: string | null }

const processOf = ({ process }: OfProcess) => (process ? `The process ${process}` : 'It')

export const crashLoop = (
  of: OfProcess & { restarts: number; exitCode: number | null; isApp: boolean },
): News => ({
  kind: 'crash_loop',
  level: 'failure',
  title: `${of.subject} keeps crashing`,
  text:
    `${processOf(of)} exited ${of.restarts} times in a row soon after its start` +
    `${of.exitCode === null ? '' : `, last with code ${of.exitCode}`}.` +
    (of.isApp ? ' Davit stops it after 10 times.' : ''),
  todo: of.isApp
    ? 'Check its last lines, then deploy a fix or roll back.'
    : 'Check its last lines, then change the service or restart it.',
})

export const outOfMemory = (of: OfProcess): News => ({
  kind: 'out_of_memory',
  level: 'failure',
  title: `${of.subject} ran out of memory`,
  text: `${processOf(of)} reached its memory limit, and Linux ended it or a part of it.`,
  todo: 'Raise the memory limit, or find out what needs so much: see the memory of the last hours on its page.',
})

export const unhealthy = (of: OfProcess): News => ({
  kind: 'unhealthy',
  level: 'failure',
  title: `${of.subject} is unhealthy`,
  text: of.process
    ? `The health check of the process ${of.process} fails.`
    : 'Its health check fails.',
  todo: 'Check its last lines. A restart may help for now.',
})

const ended = {
  crash_loop: { title: 'runs again', text: 'It no longer crashes.' },
  out_of_memory: { title: 'runs within its memory again', text: 'Nothing was ended since.' },
  unhealthy: { title: 'is healthy again', text: 'Its health check succeeds.' },
}

export const troubles = Object.keys(ended) as (keyof typeof ended)[]

export const troubleEnded = (kind: keyof typeof ended, { subject }: Subject): News => ({
  ...{ kind, level: 'resolved', todo: null },
  title: `${subject} ${ended[kind].title}`,
  text: ended[kind].text,
})

/** Of Davit’s own server, unless another one is named. */
export const diskLow = (
  disk: { free: number; size: number; needed: number },
  { isOver = false, server }: { isOver?: boolean; server?: string | undefined } = {},
): News => ({
  kind: 'disk_low',
  level: isOver ? 'resolved' : 'failure',
  title: `${server ? `The disk of the server ${server}` : 'The server’s disk'} ${
    isOver ? 'has space again' : 'is almost full'
  }`,
  text: `${bytes(disk.free)} of ${bytes(disk.size)} are free.${
    isOver || server ? '' : ` Builds need ${bytes(disk.needed)} to start.`
  }`,
  todo: isOver ? null : 'See what uses it, and remove what isn’t needed, under Settings, Clean-up.',
})

export const stoppedForDisk = (of: Subject & { message: string; hint: string }): News => ({
  ...{ kind: 'unhealthy', level: 'failure' },
  title: `${of.subject} was stopped: it filled the disk`,
  text: of.message,
  todo: of.hint,
})

export const memoryLow = (
  memory: { free: number; size: number },
  { isOver = false } = {},
): News => ({
  kind: 'memory_low',
  level: isOver ? 'resolved' : 'warning',
  title: isOver ? 'The server has memory again' : 'The server is low on memory',
  text:
    `${bytes(memory.free)} of ${bytes(memory.size)} are free.` +
    (isOver ? '' : ' When none is left, Linux ends apps, databases or Davit itself.'),
  todo: isOver
    ? null
    : 'See under Containers what uses it. Stop what isn’t needed, or set memory limits.',
})

export const certificateFailing = (of: {
  host: string
  message: string
  hint: string | null
}): News => ({
  ...{ kind: 'certificate_failing', level: 'failure' },
  title: `No valid certificate for ${of.host}`,
  text: of.message,
  todo: of.hint,
})

export const certificateEnding = (of: Parameters<typeof certificateFailing>[0]): News => ({
  ...certificateFailing(of),
  title: `The certificate of ${of.host} ends soon`,
})

export const certificateIssued = ({ host, notAfter }: { host: string; notAfter: Date }): News => ({
  ...{ kind: 'certificate_failing', level: 'resolved', todo: null },
  title: `${host} has a valid certificate again`,
  text: `It is valid until ${notAfter.toISOString().slice(0, 10)}.`,
})

export const certificateOver = ({ host }: { host: string }): News => ({
  ...{ kind: 'certificate_failing', level: 'resolved', todo: null },
  title: `The certificate of ${host} is no longer awaited here`,
  text: 'Its domain was removed or changed. If it still fails, you are told again.',
})

export const scheduleFailed = (
  of: Subject & { name: string; message: string; hint: string | null },
): News => ({
  ...{ kind: 'schedule_failed', level: 'failure' },
  title: `The schedule ${of.name} of ${of.subject} failed`,
  text: of.message,
  todo: of.hint ?? 'Check the log of its run.',
})

export const scheduleWorks = ({ subject, name }: Subject & { name: string }): News => ({
  ...{ kind: 'schedule_failed', level: 'resolved', todo: null },
  title: `The schedule ${name} of ${subject} works again`,
  text: 'Its last run succeeded.',
})

export const backupFailed = (of: Subject & { message: string; hint: string | null }): News => ({
  ...{ kind: 'backup_failed', level: 'failure' },
  title: `The backup of ${of.subject} failed`,
  text: of.message,
  todo: of.hint ?? 'Check its log.',
})

export const notLoaded = (of: Subject & { message: string }): News => ({
  ...{ kind: 'backup_failed', level: 'failure' },
  title: `The databases of ${of.subject} weren’t restored`,
  text: `Davit was restored, but they couldn’t be loaded, so they are empty. ${of.message}`,
  todo: 'Correct that, then restore the backup on its page. If it has a plan, save that again: it is off until then.',
})

export const backupWorks = ({ subject }: Subject): News => ({
  ...{ kind: 'backup_failed', level: 'resolved', todo: null },
  title: `${subject} is backed up again`,
  text: 'Its last backup succeeded.',
})

export const backupOverdue = (of: Subject & { why: string | null; last: Date | null }): News => ({
  ...{ kind: 'backup_overdue', level: 'failure' },
  title: `The backup of ${of.subject} is overdue`,
  text: `${of.why ?? 'The last one that was due didn’t succeed.'} ${
    of.last ? `The newest that can be used is from ${of.last.toISOString()}.` : 'There is none.'
  }`,
  todo: 'Check its target and the log of its last backup.',
})

export const backupInTime = ({ subject, hasPlan }: Subject & { hasPlan: boolean }): News => ({
  ...{ kind: 'backup_overdue', level: 'resolved', todo: null },
  title: `The backup of ${subject} is no longer overdue`,
  text: hasPlan ? 'Its last backup succeeded.' : 'Its plan was removed.',
})

export const loginNew = (of: { email: string; device: string; address: string }): News => ({
  ...{ kind: 'login_new', level: 'warning' },
  title: `New login as ${of.email}`,
  text: `Someone logged in with ${of.device} from ${of.address}, for the first time with this browser.`,
  todo: 'If that wasn’t you, end the session and change your password.',
})

export const tokenCreated = (of: { name: string; scopes: string[]; email: string }): News => ({
  ...{ kind: 'token_created', level: 'info' },
  title: `New API token ${of.name}`,
  text: `It was created as ${of.email}, for: ${of.scopes.join(', ')}.`,
  todo: 'If that wasn’t you, revoke it, end your sessions and change your password.',
})

export const adminGranted = (of: { email: string; by: string }): News => ({
  ...{ kind: 'admin_granted', level: 'warning' },
  title: `${of.email} is an admin now`,
  text: `${of.by} made them one. Admins see every container and decide who has access.`,
  todo: 'If that wasn’t intended, make them a member again.',
})

export const newVersion = (of: { version: string; own: string }): News => ({
  ...{ kind: 'davit_version', level: 'info' },
  title: `Davit ${of.version} is available`,
  text: `This server runs ${of.own}.`,
  todo: 'Run “davit upgrade” on the server. It makes a backup first, and goes back if the new version fails.',
})

export const backupUnproven = (of: Subject & { message: string; hint: string }): News => ({
  kind: 'backup_unproven',
  level: 'failure',
  title: `The backup of ${of.subject} can’t be restored`,
  text: `Davit restored it for a test, which failed. ${of.message}`,
  todo: of.hint,
})

export const backupUntested = (of: Subject & { message: string; hint: string }): News => ({
  kind: 'backup_unproven',
  level: 'failure',
  title: `The backup of ${of.subject} couldn’t be tested`,
  text: `Whether it can be restored is unknown. ${of.message}`,
  todo: of.hint,
})

export const backupProven = ({ subject }: Subject): News => ({
  kind: 'backup_unproven',
  level: 'resolved',
  title: `A backup of ${subject} was restored for a test`,
  text: 'It has all that was stored.',
  todo: null,
})
