import { afterAll, expect, test } from 'bun:test'
import { startSystemdMachine } from './systemd-machine.ts'
import type { SystemdMachine } from './systemd-machine.ts'

const machines: SystemdMachine[] = []
afterAll(() => Promise.all(machines.map((machine) => machine.leave())))

test('a machine with systemd has services, and an engine of its own', async () => {
  const machine = await startSystemdMachine({ engine: true })
  machines.push(machine)
  expect(await machine.must(['cat', '/proc/1/comm'])).toBe('systemd')
  expect(await machine.must(['systemctl', 'is-active', 'docker'])).toBe('active')
  await machine.loadImage('busybox:latest')
  expect(await machine.must(['docker', 'run', '--rm', 'busybox', 'echo', 'inside'])).toBe('inside')
}, 600_000)
