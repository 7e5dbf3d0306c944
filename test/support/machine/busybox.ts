import { chmod, copyFile, mkdir, mkdtemp, rm, symlink } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { run, which } from './command.ts'

/** Packs the machine's static busybox as the root file system of an image. */
export async function buildBusyboxTar() {
  const work = await mkdtemp(join(tmpdir(), 'davit-busybox-'))
  try {
    const root = join(work, 'root')
    await layOut(root)
    const tar = join(work, 'root.tar')
    const owner = ['--owner=0', '--group=0', '--numeric-owner']
    const { exitCode, output } = await run(['tar', '-cf', tar, ...owner, '-C', root, '.'])
    if (exitCode !== 0) throw new Error(`tar can't pack busybox: ${output.trim()}`)
    return new Blob([await Bun.file(tar).bytes()])
  } finally {
    await rm(work, { recursive: true })
  }
}

async function layOut(root: string) {
  for (const directory of ['bin', 'etc', 'root', 'tmp']) {
    await mkdir(join(root, directory), { recursive: true })
  }
  await chmod(join(root, 'tmp'), 0o1777)
  await Bun.write(join(root, 'etc/passwd'), 'root:x:0:0:root:/root:/bin/sh\n')
  await Bun.write(join(root, 'etc/group'), 'root:x:0:\n')

  const busybox = which('busybox')!
  await copyFile(busybox, join(root, 'bin/busybox'))
  const { output } = await run([busybox, '--list-full'])
  for (const applet of output.trim().split('\n')) {
    const link = join(root, applet)
    if (applet === 'bin/busybox') continue
    await mkdir(dirname(link), { recursive: true })
    await symlink('/bin/busybox', link)
  }
}
