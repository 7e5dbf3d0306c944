import type { Config } from '../config.ts'
import { factory } from '../web/factory.ts'
import { show } from '../web/respond.tsx'

/** What programs can do, for programs and for the people who write them. */
export const apiRoutes = ({ config }: { config: Config }) => {
  const serverOf = (url: string) => (config.url ?? new URL(url)).origin

  return factory
    .createApp()
    .get('/api', async (c) => {
      const { ApiPage, operations, openApiDocument } = await description()
      const known = operations(config)
      return show(c, {
        title: 'API',
        page: () => <ApiPage operations={known} />,
        json: () => openApiDocument(known, { server: serverOf(c.req.url) }),
      })
    })
    .get('/api/openapi.json', async (c) => {
      const { operations, openApiDocument } = await description()
      return c.json(openApiDocument(operations(config), { server: serverOf(c.req.url) }))
    })
}

/** Loaded when it is first asked for: the schemas of all that Davit does take memory, and few read them. */
const description = async () => ({
  ...(await import('./operations.ts')),
  ...(await import('./document.ts')),
  ...(await import('./page.tsx')),
})
