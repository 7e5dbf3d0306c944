import { existsSync, readFileSync } from 'node:fs'
import { withRightsOf } from '../platform/effective-user.ts'
import type { SystemUser } from '../platform/effective-user.ts'
import { Failure } from '../platform/errors.ts'
import { user } from './layout.ts'
import type { Layout } from './layout.ts'
import { run } from './run.ts'
import type { Work } from './run.ts'

/** Null when Davit's user doesn't exist. */
export function systemUser(): SystemUser | null {
  const found = fieldsOf('passwd', user)
  return found && { name: user, uid: Number(found[2]), gid: Number(found[3]) }
}

/** Root acts as Davit's user on Davit's data, because that user could redirect root elsewhere with a link. */
export function asDavit<T>(act: () => T): T {
  return withRightsOf(systemUser(), act)
}

export const hasUser = () => fieldsOf('passwd', user) !== null

export const mayUseDocker = () =>
  fieldsOf('group', 'docker')?.[3]?.split(',').includes(user) ?? false

/** The user has no password and may use Docker; with a shell, also ssh may run something as them. Repeatable. */
export async function createUser(
  { home }: Layout,
  { hasShell = false, ...work }: Work & { hasShell?: boolean },
) {
  const todo = 'Fix that, then run davit install again.'
  const found = fieldsOf('passwd', user)
  if (found && found[5] !== home)
    throw new Failure(
      'user_exists',
      `There is another user ${user}, with the home ${found[5]}.`,
      'Rename or remove that user, then run davit install again.',
    )
  const none = ['/usr/sbin/nologin', '/sbin/nologin'].find(existsSync) ?? '/bin/false'
  const shell = hasShell ? '/bin/sh' : none
  const group = fieldsOf('group', user) ? ['--gid', user] : ['--user-group']
  const options = ['--system', ...group, '--home-dir', home, '--no-create-home', '--shell', shell]
  if (!found) await run({ ...work, todo, argv: ['useradd', ...options, user] })
  // sshd refuses users who are locked, as those without a password are
  const open = hasShell ? ['--shell', shell, '--password', '*'] : []
  await run({ ...work, todo, argv: ['usermod', ...open, '--append', '--groups', 'docker', user] })
}

/** Finds a line of /etc/passwd or /etc/group by its first field. */
function fieldsOf(table: 'passwd' | 'group', name: string) {
  const lines = readFileSync(`/etc/${table}`, 'utf8')
    .split('\n')
    .map((line) => line.split(':'))
  return lines.find(([first]) => first === name) ?? null
}
