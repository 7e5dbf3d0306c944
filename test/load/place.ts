export type Place = {
  /** Where the edge listens, whatever the host is called. */
  address: string
  http: number
  https: number
  /** A host with HTTPS off, and one with a certificate of its own. */
  plainHost: string
  secureHost: string
  /** What the second's certificate is from. */
  ca: string
}

/** The plain host as a connection is opened to it. */
export const plainly = ({ address, http: port, plainHost: host }: Place) => ({
  address,
  port,
  host,
})
