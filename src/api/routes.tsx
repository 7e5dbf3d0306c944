import type { RouterRoute } from 'hono/types'
import type { Config } from '../config.ts'
import { factory } from '../web/factory.ts'
import { show } from '../web/respond.tsx'

/** What programs can do, for programs and for the people who write them. */
export const apiRoutes = ({ config }: { config: Config }, app: { routes: RouterRoute[] }) => {
  /** Loaded when it is first asked for: the schemas of all that Davit does take memory, and few read them. */
  async function describe(url: string) {
    const { openApiDocument } = await import('./document.ts')
    return openApiDocument(app.routes, { server: (config.url ?? new URL(url)).origin, config })
  }

  return factory
    .createApp()
    .get('/api', async (c) => {
      const document = await describe(c.req.url)
      const { ApiPage } = await import('./page.tsx')
      return show(c, {
        title: 'API',
        page: () => <ApiPage document={document} />,
        json: () => document,
      })
    })
    .get('/api/openapi.json', async (c) => c.json(await describe(c.req.url)))
}
