import { Redis } from 'ioredis'
import pg from 'pg'

/** The two addresses that the links provide. */
const { DATABASE_URL, REDIS_URL } = process.env

export const database = new pg.Pool({ connectionString: DATABASE_URL })
database.on('error', () => {}) // the server ended a connection; the next query opens another

/** A connection for BullMQ, which waits for the server by itself. */
export const redis = () => new Redis(REDIS_URL, { maxRetriesPerRequest: null })
