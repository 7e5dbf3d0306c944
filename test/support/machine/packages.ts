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

/** Where the packages of this machine's Debian are from. */
export async function mirror() {
  const { output } = await run(['apt-get', 'indextargets', '--format', '$(REPO_URI)'])
  const found = output.split('\n').find((uri) => /\/debian\/?$/.test(uri))
  if (!found) throw new Error('apt has no mirror of Debian here.')
  return found
}

/**
 * Makes the root file system of a suite, with these packages and what they need. Its processes and mounts
 * end with it, or with us.
 */
export async function debootstrap({
  suite,
  include,
  root,
}: {
  suite: string
  include: string[]
  root: string
}) {
  requireRoot('debootstrap')
  if (!which('debootstrap')) await installPackages(['debootstrap'])
  const apart = ['setpriv', '--pdeathsig', 'KILL', 'unshare', '--mount', '--pid', '--kill-child']
  const more = include.length > 0 ? [`--include=${include.join(',')}`] : []
  const options = ['--variant=minbase', ...more]
  const command = ['--fork', '--mount-proc', 'debootstrap', ...options, suite, root, await mirror()]
  const { exitCode, output } = await run([...apart, ...command])
  if (exitCode !== 0) throw new Error(`debootstrap can't make ${suite}: ${lastLine(output)}`)
}

/** How this machine reaches that mirror. */
export async function aptSettings() {
  const { output } = await run(['apt-config', 'dump'])
  const lines = output.match(/^Acquire::(https?|Check-|Retries|Languages|Proxy).*$/gm) ?? []
  return lines.map((line) => `${line}\n`).join('')
}

/** Unpacks one package of this machine's Debian in a folder, and runs nothing of it. */
export async function unpackPackage(name: string, folder: string) {
  const download = ['apt-get', '-o', 'APT::Sandbox::User=root', 'download', name]
  let { exitCode } = await run(download, { cwd: folder })
  if (exitCode !== 0) {
    await run([...aptGet, 'update'])
    exitCode = (await run(download, { cwd: folder })).exitCode
  }
  const [archive] = [...new Bun.Glob(`${name}_*.deb`).scanSync(folder)]
  if (exitCode !== 0 || !archive) throw new Error(`apt-get can't download ${name}.`)
  const { output, ...unpacked } = await run(['dpkg-deb', '--extract', archive, '.'], {
    cwd: folder,
  })
  if (unpacked.exitCode !== 0) throw new Error(`dpkg-deb can't unpack ${name}: ${lastLine(output)}`)
}
