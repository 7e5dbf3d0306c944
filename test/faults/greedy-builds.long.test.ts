import { expect, test } from 'bun:test'
import { aBuild } from '../deployments/apps.ts'
import { builders } from '../support/builders.ts'
import { anInstallation } from '../support/installation.ts'
import { startPrivateEngine } from './private-engine.ts'
import { aProject } from './project.ts'

/** On an engine of its own: what builds may use there is too little for others. */
test.each(builders)(
  'a build that takes too much memory ends alone, with the reason, with the builder %s',
  async (builder) => {
    await using engine = await startPrivateEngine()
    const davit = anInstallation(
      {},
      {
        DAVIT_BUILDER: builder,
        DOCKER_HOST: engine.host,
        DAVIT_BUILD_MEMORY: '48',
        DAVIT_BUILD_CONCURRENCY: '2',
        DAVIT_SETTLE_TIME: '1',
      },
    )
    try {
      const { url } = await davit.start()
      const build = (name: string, script: string) =>
        aProject(davit, aBuild(script), { name, port: 0 })
      const greedy = await build('greedy', 'tail -c 399m /dev/zero')
      const modest = await build('modest', 'sleep 1')
      let isOver = false
      const asking = (async () => {
        for (; !isOver; await Bun.sleep(20)) expect((await fetch(`${url}/health`)).status).toBe(200)
      })()
      const [hungry, content] = await Promise.all([greedy.deploy(), modest.deploy()])
      isOver = true
      await asking
      expect(hungry).toMatchObject({ status: 'failed', error: { code: 'killed' } })
      expect(hungry.error!.message).toContain('48.0 MiB')
      expect(content).toMatchObject({ status: 'running', error: null })
    } finally {
      await davit.leave()
    }
  },
  120_000,
)
