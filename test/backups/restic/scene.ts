import { afterAll } from 'bun:test'
import { cpSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { repositoryOf } from '../../../src/backups/restic/repository.ts'
import { runRestic } from '../../../src/backups/restic/run.ts'
import { openRestic } from '../../../src/backups/restic/restic.ts'
import type { ResticDeps, Target } from '../../../src/backups/restic/restic.ts'
import { insertUser } from '../../../src/accounts/store.ts'
import { randomToken } from '../../../src/platform/secrets.ts'
import { testApp } from '../../support/app.ts'
import { hostAddress } from './servers.ts'
import { ensureRepository, ensureRestic, repositoryKey } from '../../support/images/restic.ts'
import type { ResticVersion } from '../../support/images/restic.ts'

export { collect, write } from './write.ts'

export const { signal } = new AbortController()

/** A Davit of a file's tests, whose restic is Debian's. */
export async function scene({ version = '0.14' }: { version?: ResticVersion } = {}) {
  const env = {
    DAVIT_RESTIC_IMAGE: await ensureRestic(version),
    DAVIT_ALLOW_HOSTS: await hostAddress(),
  }
  const t = testApp(env, { atEnd: afterAll })
  const owner = insertUser(t.deps.db, {
    email: 'owner@example.com',
    name: null,
    passwordHash: null,
    role: 'member',
  })
  const folders: string[] = []
  afterAll(() => {
    for (const folder of folders) rmSync(folder, { recursive: true, force: true })
  })

  /** A directory of this machine. */
  function folder() {
    const made = mkdtempSync(join(tmpdir(), 'davit-target-'))
    folders.push(made)
    return made
  }

  const target = (fields: Partial<Target>): Target => ({
    id: crypto.randomUUID(),
    ownerId: owner.id,
    kind: 'directory',
    password: randomToken(), // one that costs little each time
    ...fields,
  })

  const open = (fields: Partial<Target>, deps: Partial<ResticDeps> = {}) =>
    openRestic({ ...t.deps, ...deps }, target(fields))

  /** With a repository as restic has just made it. */
  async function prepared(): Promise<Target> {
    const path = folder()
    cpSync(await ensureRepository(version), path, { recursive: true })
    return target({ password: repositoryKey, path })
  }

  return {
    ...t,
    folder,
    target,
    prepared,
    /** Reads all data, and fails when some of it is damaged. */
    check: (fields: Partial<Target>, timeouts?: ResticDeps['timeouts']) => {
      const own = target(fields)
      const opened = { ...t.deps, target: own, repository: repositoryOf(own) }
      return runRestic(
        { ...opened, ...(timeouts && { timeouts }) },
        { args: ['check', '--read-data'], isAlone: true, signal },
      )
    },
    open,
  }
}
