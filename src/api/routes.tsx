import type { Context } from 'hono'
import type { RouterRoute } from 'hono/types'
import { z } from 'zod'
import type { Config } from '../config.ts'
import { requestOrigin } from '../web/own-host.ts'
import { notFound } from '../platform/errors.ts'
import { factory } from '../web/factory.ts'
import { query } from '../web/query.ts'
import { show } from '../web/respond.tsx'
import type { OpenApiDocument } from './document.ts'

const asked = z.object({ open: z.string().optional() })

/** The OpenAPI document, and a page for reading it. */
export const apiRoutes = ({ config }: { config: Config }, app: { routes: RouterRoute[] }) => {
  /** The document of the last origin: it is slow to generate, and there is rarely more than one origin. */
  let last: OpenApiDocument | null = null

  /** Loaded on first use: the schemas use memory, and are rarely needed. */
  async function describe(c: Context) {
    const server = requestOrigin(c, config)
    if (last?.servers[0]?.url === server) return last
    const { openApiDocument } = await import('./document.ts')
    return (last = openApiDocument(app.routes, { server }))
  }

  return factory
    .createApp()
    .get('/api', query(asked), async (c) => {
      const { open } = c.req.valid('query')
      const document = await describe(c)
      const { ApiDetails, ApiPage } = await import('./page.tsx')
      const details = open === undefined ? null : ApiDetails({ document, open })
      if (open !== undefined && !details) throw notFound('call or schema')
      return show(c, {
        title: 'API',
        page: () => <ApiPage {...{ document, open }} />,
        ...(details && { partial: () => details }),
        json: () => document,
      })
    })
    .get('/api/openapi.json', async (c) => c.json(await describe(c)))
}
