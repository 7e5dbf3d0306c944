import { lastLine, requireRoot, run, which } from './command.ts'

const aptGet = ['apt-get', '--yes', '-o', 'DPkg::Lock::Timeout=300', '-o', 'Acquire::Retries=2']

/** Installs Debian packages; a bare machine has no package lists yet, so they are fetched if needed. */
export async function installPackages(names: string[]) {
  const what = names.join(' ')
  requireRoot(`installing ${what}`)
  if (!which('apt-get')) throw new Error(`There is no apt-get here to install ${what} with.`)

  const install = [...aptGet, 'install', '--no-install-recommends', ...names]
  if ((await run(install)).exitCode === 0) return
  await run([...aptGet, 'update'])
  const { exitCode, output } = await run(install)
  if (exitCode === 0) return
  const reason = output.split('\n').find((line) => line.startsWith('E: ')) ?? lastLine(output)
  throw new Error(`apt-get can't install ${what}: ${reason.replace('E: ', '')}`)
}
