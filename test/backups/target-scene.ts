import type { OpenTarget } from '../../src/backups/targets/store.ts'
import type { Failure } from '../../src/platform/errors.ts'
import { simulatedApp } from '../support/app.ts'
import type { TestApp } from '../support/app.ts'

export const path = '/settings/targets'
export const s3 = {
  ...{ kind: 's3', name: 'offsite', endpoint: 'http://127.0.0.1:9000/', bucket: 'backups' },
  ...{ accessKey: 'AKIA', secretKey: 'a secret key' },
}
export const privateKey =
  '-----BEGIN OPENSSH PRIVATE KEY-----\nAAAA\n-----END OPENSSH PRIVATE KEY-----\n'
export const sftp = {
  ...{ kind: 'sftp', name: 'nas', host: '127.0.0.1:2222', user: 'davit', path: 'backups' },
  key: privateKey,
}
export const rest = { kind: 'rest', name: 'rest', url: 'http://127.0.0.1:8000/repo' }
export const directory = { kind: 'directory', name: 'disk', path: '/mnt/backups' }

/** Targets that are tried out with what `answers` says, and those that were. */
export function scene() {
  const tried: OpenTarget[] = []
  /** Whether the repository had to exist. */
  const existing: boolean[] = []
  const answers: { failure?: Failure; hostKey: string | null } = { hostKey: null }
  const t = simulatedApp(
    { DAVIT_ALLOW_HOSTS: '127.0.0.1,nas.example.com' },
    {
      async tryOut(target, { mustExist }) {
        tried.push(target)
        existing.push(mustExist)
        if (answers.failure) throw answers.failure
        return { hostKey: answers.hostKey }
      },
    },
  )
  const [ada, root] = [t.logIn('ada@example.com'), t.logInAsAdmin()]
  return { t, ada, root, tried, existing, answers }
}

export const stored = (t: TestApp) => t.db.$client.query('SELECT * FROM targets').all() as any[]

/** A JSON body as the form that says the same. */
export const snake = (body: object) =>
  Object.fromEntries(
    Object.entries(body).map(([name, value]) => [
      name.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`),
      String(value),
    ]),
  )
