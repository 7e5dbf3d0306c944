import { probeOnce } from '../docker/index.ts'
import type { ContainerKey } from '../docker/index.ts'
import type { Component } from './component.ts'
import type { GateRun } from './run.ts'
import { probedAt } from './steps/gate.ts'

type Checked = Pick<GateRun, 'engines' | 'network' | 'signal'>

export type HealthResult = { passed: boolean; seen: string }

/**
 * One check of a running container: its health path, and its HEALTHCHECK. Null when it has neither, isn't
 * running, or its address can't be reached from here.
 */
export async function checkHealth(
  { engines, network, signal }: Checked,
  subject: ContainerKey & { component: Component },
): Promise<HealthResult | null> {
  const { id, component } = subject
  const { gate } = component
  const docker = engines.of(subject)
  const run = { engines, docker, network, signal }
  const container = await docker.inspectContainer(id, { signal })
  if (container?.state !== 'running') return null
  if (gate.kind === 'engine')
    return container.health === null || container.health === 'starting'
      ? null
      : { passed: container.health === 'healthy', seen: container.healthOutput ?? '' }
  const place = gate.port > 0 && gate.path !== null ? await probedAt(run, container, gate) : null
  const { path, host } = gate
  const probed = place && 'address' in place && (await probeOnce({ ...place, path, host, signal }))
  if (probed && !probed.answered) return { passed: false, seen: probed.lastSeen }
  const { healthTest: test } = container
  if (!test) return probed ? { passed: true, seen: probed.lastSeen } : null
  const { timeout } = test
  const tested = await docker.untilHealthTestPasses(id, { test, timeout, isOnce: true, signal })
  return { passed: tested.passed, seen: tested.output.trim().split('\n').at(-1) ?? '' }
}
