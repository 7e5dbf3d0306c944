import { EngineError } from '../../../src/docker/index.ts'
import type { FakeEngine } from './engine.ts'
import { answer, look, make } from './stage.ts'
import type { Scenario } from './scenarios.ts'

export function pause(engine: FakeEngine, id: string) {
  const container = engine.container(id)
  if (container.state === 'paused')
    throw new EngineError(409, `Container ${container.id} is already paused`)
  if (container.state !== 'running')
    throw new EngineError(409, `Container ${container.id} is not running`)
  container.state = 'paused'
  engine.tell(container, 'pause')
}

export function unpause(engine: FakeEngine, id: string) {
  const container = engine.container(id)
  if (container.state !== 'paused')
    throw new EngineError(500, `Container ${container.id} is not paused`)
  container.state = 'running'
  engine.tell(container, 'unpause')
}

export const pauseScenarios: Record<string, Scenario> = {
  'a pause': async (s) => {
    const c = await make(s, { command: ['sleep', '600'] })
    const refused = async (call: Promise<unknown>) =>
      String(await answer(call)).replace(/[0-9a-f]{64}/, '…')
    const seen: unknown[] = [await refused(s.docker.pauseContainer(c))]
    await s.docker.startContainer(c)
    seen.push(await refused(s.docker.unpauseContainer(c)))
    await s.docker.pauseContainer(c)
    seen.push(await look(s, c), await refused(s.docker.pauseContainer(c)))
    await s.docker.unpauseContainer(c)
    seen.push(await look(s, c))
    await s.docker.pauseContainer(c)
    seen.push(await s.docker.stopContainer(c, { timeoutSeconds: 1 }), await look(s, c))
    return seen
  },
}
