import { chmodSync, mkdirSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Server } from '../engines/servers.ts'
import { run } from '../support/machine/command.ts'

/** What of systemd davit join uses, for a machine that has none. */
const systemctl = `#!/bin/sh
case "$1 $2" in
  'restart davit-firewall.service')
    sh /usr/local/lib/davit/firewall apply
    setsid sh /usr/local/lib/davit/firewall watch </dev/null >/dev/null 2>&1 &
    echo $! >/run/davit-firewall.pid ;;
  'disable --now')
    [ -e /run/davit-firewall.pid ] && kill $(cat /run/davit-firewall.pid)
    rm -f /run/davit-firewall.pid ;;
esac
exit 0
`

const script = `
  set -e
  mount -t tmpfs machine "$1"
  mkdir "$1/upper" "$1/work" "$1/root"
  mount -t overlay -o "lowerdir=/,upperdir=$1/upper,workdir=$1/work" machine "$1/root"
  mount -t sysfs machine "$1/root/sys"
  for place in /proc /dev /tmp; do mount --rbind "$place" "$1/root$place"; done
  mount -t tmpfs machine "$1/root/run"
  mkdir -p "$1/root/run/systemd/system" "$1/root/run/sshd" "$1/root/usr/local/sbin"
  cp "$2" "$1/root/usr/local/sbin/systemctl"
  touch "$1/root/run/docker.sock"
  mount --bind "$3" "$1/root/run/docker.sock"
  exec chroot "$1/root" sh -c '
    getent group docker >/dev/null || groupadd docker
    chgrp docker /run/docker.sock
    ssh-keygen -A >/dev/null
    $(command -v sshd) -o UsePAM=no -o PidFile=none
    echo ready
    cat'`

/** A root file system of its own for a server: what is written there is gone with it. It has an sshd. */
export async function aMachineRoot(server: Server) {
  const folder = mkdtempSync(join(tmpdir(), 'davit-root-'))
  const stub = join(folder, 'systemctl')
  await Bun.write(stub, systemctl)
  chmodSync(stub, 0o755)
  const place = join(folder, 'machine')
  mkdirSync(place)
  const apart = ['unshare', '--mount', '--propagation', 'private', '--']
  const argv = ['sh', '-c', script, 'sh', place, stub, server.socket]
  const holder = Bun.spawn([...server.inside, ...apart, ...argv], {
    stdin: 'pipe',
    stdout: 'pipe',
    stderr: 'inherit',
  })
  const { value } = await holder.stdout.getReader().read()
  if (!value) throw new Error('The test can’t make a root for a server.')
  const pid = await deepestChild(holder.pid)
  const enter = ['nsenter', '--target', pid, '--mount', '--net', '--uts', '--pid', '--root', '--']
  return {
    run: (argv: string[]) => run([...enter, 'sh', '-c', 'cd / && exec "$@"', 'sh', ...argv]),
    async [Symbol.asyncDispose]() {
      holder.kill('SIGKILL')
      await holder.exited
      rmSync(folder, { recursive: true, force: true })
    },
  }
}

async function deepestChild(pid: number): Promise<string> {
  const text = await Bun.file(`/proc/${pid}/task/${pid}/children`).text()
  const child = text.trim().split(' ').at(0)
  return child ? deepestChild(Number(child)) : String(pid)
}
