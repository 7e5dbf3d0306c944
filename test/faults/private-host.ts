import { existsSync } from 'node:fs'
import { lastLine, run } from '../support/machine/command.ts'

/**
 * Namespaces of processes, mounts and networks, with one wire to the machine. They are held by a
 * process that reads from us: when we are gone, however, it ends, and all that is in them with it.
 */
export async function aHost(hostname = '') {
  const env = { ...process.env, PATH: `${process.env.PATH}:/usr/sbin:/sbin` }
  const apart = ['--pid', '--fork', '--kill-child', '--mount', '--mount-proc', '--net', '--uts']
  // A shell as the first process takes in the orphans; it needs something to do after the reading.
  const named = hostname ? `hostname ${hostname}; ` : ''
  const holding = ['sh', '-c', `${named}echo held; cat; true`]
  const holder = Bun.spawn(['unshare', ...apart, '--propagation', 'slave', ...holding], {
    stdin: 'pipe',
    stdout: 'pipe',
    stderr: 'inherit',
    env,
  })
  const { value } = await holder.stdout.getReader().read()
  if (!value) throw new Error('The test can not make namespaces of its own.')
  const pid = await firstChild(holder.pid)
  const inside = ['nsenter', '--target', pid, '--pid', '--mount', '--net', '--uts', '--']
  const address = await wire(inside, pid)

  return {
    /** Its first process. */
    pid,
    inside,
    address,
    env,
    async [Symbol.asyncDispose]() {
      holder.kill('SIGKILL')
      await holder.exited
      // its first process ends after all others, and only then their files are free
      while (existsSync(`/proc/${pid}`)) await Bun.sleep(10)
    },
  }
}

async function firstChild(pid: number) {
  const { output } = await run(['cat', `/proc/${pid}/task/${pid}/children`])
  const child = output.trim().split(' ')[0]
  if (!/^\d+$/.test(child ?? '')) throw new Error(`Process ${pid} has no child.`)
  return child!
}

/** A pair of cables, whose near end goes with the far one; answers the address of the far end. */
async function wire(inside: string[], pid: string) {
  const near = `dvt${pid}`
  const block = Number(pid) % 2 ** 15
  const network = `198.18.${(block >> 6) & 255}.${(block & 63) << 2}`.split('.').map(Number)
  const at = (host: number) => [...network.slice(0, 3), network[3]! + host].join('.')
  const [here, there] = [at(1), at(2)]
  const commands = [
    ['ip', 'link', 'add', near, 'type', 'veth', 'peer', 'name', 'eth0', 'netns', pid],
    ['ip', 'address', 'add', `${here}/30`, 'dev', near],
    ['ip', 'link', 'set', near, 'up'],
    [...inside, 'ip', 'link', 'set', 'lo', 'up'],
    [...inside, 'ip', 'address', 'add', `${there}/30`, 'dev', 'eth0'],
    [...inside, 'ip', 'link', 'set', 'eth0', 'up'],
    [...inside, 'ip', 'route', 'add', 'default', 'via', here],
  ]
  for (const command of commands) {
    const { exitCode, output } = await run(command)
    if (exitCode !== 0) throw new Error(`The test can't lay a wire: ${lastLine(output)}`)
  }
  return there
}
