import { cp, mkdtemp, rm, symlink } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import manifest from '../../package.json' with { type: 'json' }
import { buildExecutable } from '../release/executables.ts'
import type { Target } from '../release/executables.ts'
import { repository } from '../release/lockfile.ts'

export const target: Target = process.arch === 'arm64' ? 'linux-arm64' : 'linux-x64'

type Fault = { after: string; code: string }

/** What a version does behind a line of src/serve.ts: where its databases are open, and upgraded, or it is ready. */
const faults: Record<string, Fault> = {
  '0.3.0': { after: 'assemble(config)', code: `throw new Failure('broken', 'Flooded.', 'Pump.')` },
  '0.4.0': {
    after: 'assemble(config)',
    code: 'await new Promise(() => setInterval(() => {}, 1000))',
  },
  '0.5.0': {
    after: 'announce(deps, server.url)',
    code: 'deps.logDb.$client.run = () => { throw 0 }',
  },
}

/**
 * Versions of Davit, each an executable built from this tree: 0.1.0 as it is; all later ones bring a migration;
 * 0.3.0 fails at its start once that is done, 0.4.0 hangs, 0.5.0 starts, and then isn't ready.
 */
export async function buildVersions(
  directory: string,
  versions: string[],
  { killable = false } = {},
) {
  const tree = await mkdtemp(join(tmpdir(), 'davit-tree-'))
  try {
    for (const name of ['src', 'assets', 'drizzle', 'tsconfig.json', 'bunfig.toml'])
      await cp(join(repository, name), join(tree, name), { recursive: true })
    await symlink(join(repository, 'node_modules'), join(tree, 'node_modules'))
    if (killable) await addKillPoints(tree)
    for (const version of versions) {
      await Bun.write(join(tree, 'package.json'), JSON.stringify({ ...manifest, version }))
      if (version === '0.2.0') await addMigration(tree)
      await breakServer(tree, faults[version])
      await buildExecutable(join(directory, `davit-${version}`), { target, cwd: tree })
    }
  } finally {
    await rm(tree, { recursive: true })
  }
}

async function addMigration(tree: string) {
  for (const folder of ['drizzle', 'drizzle/logs']) {
    const path = join(tree, folder, 'meta/_journal.json')
    const journal = await Bun.file(path).json()
    const last = journal.entries.at(-1)
    journal.entries.push({ ...last, idx: last.idx + 1, when: last.when + 1, tag: '9999_later' })
    await Bun.write(path, JSON.stringify(journal))
    await Bun.write(join(tree, folder, '9999_later.sql'), 'CREATE TABLE later (id integer);\n')
  }
}

async function breakServer(tree: string, fault: Fault | undefined) {
  const lines = (await Bun.file(join(repository, 'src/serve.ts')).text()).split('\n')
  const at = fault ? lines.findIndex((line) => line.endsWith(fault.after)) : 0
  if (at === -1) throw new Error(`src/serve.ts has no line ${fault!.after}`)
  const broken = fault ? lines.toSpliced(at + 1, 0, fault.code) : lines
  await Bun.write(join(tree, 'src/serve.ts'), broken.join('\n'))
}

/** Each step of an upgrade that changes a file or the service gets a place to be killed at. */
const steps =
  /^(\s+(?:return )?)(?=(?:await )?(?:stay|(?:rename|link|rm)Sync|asDavit|fill|noteIn|writeJournal|copyDatabases?|putDatabasesBack|restartService|openUpgrade|closeUpgrade|reload|clearUpgrade|remove\w+|writeFileAtomically)\()/gm

/**
 * Its process is killed at the n-th of these places that any process passes, n being in the file; behind it, in
 * which phase of the upgrade places count.
 */
export const killFile = '/run/davit-kill'

async function addKillPoints(tree: string) {
  const folder = join(tree, 'src/server/upgrade')
  await Bun.write(
    join(folder, 'kill-point.ts'),
    `import { existsSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { asCaller } from '../../platform/effective-user.ts'
export const killPoint = () => asCaller(count)
function count() {
  if (!existsSync('${killFile}')) return
  const [count, phase = ''] = readFileSync('${killFile}', 'utf8').split(' ')
  const journal = '/var/lib/davit-upgrade/upgrade.json'
  if (phase && !(existsSync(journal) && readFileSync(journal, 'utf8').includes('"' + phase + '"'))) return
  const left = Number(count) - 1
  writeFileSync('${killFile}', left + (phase && ' ' + phase))
  if (left > 0) return
  rmSync('${killFile}')
  process.kill(process.pid, 'SIGKILL')
}
`,
  )
  for (const name of ['databases', 'finish', 'hooks', 'unit', 'upgrade']) {
    const file = join(folder, `${name}.ts`)
    const text = (await Bun.file(file).text()).replace('trialTime = 5_000', 'trialTime = 500')
    const withPoints = text.replace(steps, '$1killPoint(), ')
    await Bun.write(file, `import { killPoint } from './kill-point.ts'\n${withPoints}`)
  }
}
