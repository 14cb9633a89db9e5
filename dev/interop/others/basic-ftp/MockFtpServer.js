"use strict";

const net = require("net");
const readline = require("readline");
const client = import("fetch1738-testserver");

const OWN = ["user", "pass", "type", "quit"]; // answered by the test server alone
const PORT = "of the server";

/**
 * Stands for the class of this name in the tests of basic-ftp. All replies and data come from a
 * test server. The control connection leads through here, so that the handlers of a test can say
 * what the server has to do with a command: refuse it, or have these data.
 */
module.exports = class MockFtpServer {
    constructor() {
        this.handlers = {};
        this.didStartTransfer = () => {};
        this.connections = [];
        this.server = client.then(({ ftpServer }) => ftpServer({ users: { test: { password: "test" } } }));
        this.ctrlServer = net.createServer(conn => this.serve(conn)).listen();
    }

    addHandlers(handlers) { this.handlers = handlers; }
    get ctrlAddress() { return this.ctrlServer.address(); }
    get dataAddressForPasvResponse() { return PORT; }

    close() {
        this.connections.forEach(conn => conn.destroy());
        this.ctrlServer.close();
        this.server.then(server => server.close());
    }

    async serve(conn) {
        const server = await this.server;
        const upstream = net.connect(server.port, "127.0.0.1");
        this.connections.push(conn, upstream);
        for (const end of [conn, upstream]) end.on("error", () => {});
        conn.on("close", () => upstream.destroy());
        const relay = async () => {
            for await (const line of readline.createInterface({ input: upstream })) {
                await this.replied(server, line);
                conn.write(line + "\r\n");
            }
            conn.end();
        };
        const commands = async () => {
            for await (const line of readline.createInterface({ input: conn })) {
                await this.command(server, line);
                upstream.write(line + "\r\n");
            }
        };
        relay().catch(() => conn.destroy());
        commands().catch(() => conn.destroy());
    }

    /** Prepares the server for a command. */
    async command(server, line) {
        const [verb, arg] = line.split(" ", 2);
        const method = verb.toLowerCase();
        if (OWN.includes(method)) return;
        let data = Buffer.alloc(0);
        const write = more => { if (more) data = Buffer.concat([data, Buffer.from(more)]); };
        this.dataConn = { write, end: write };
        const reply = (this.handlers[method] || (() => `500 Unknown command: "${method}"`))({ arg });
        if (method === "rest") this.offset = parseInt(arg, 10);
        if (/^[45]/.test(reply) || /^227/.test(reply) && !reply.includes(PORT)) {
            await server.arm(verb, 1, { fault: "Reply", text: reply });
        } else if (method === "retr") {
            await new Promise(sent => setTimeout(sent, 5)); // handlers send data after a timer without a time
            await server.put(arg, Buffer.concat([Buffer.alloc(this.offset || 0), data]));
        }
        this.storing = method === "stor" && arg;
    }

    /** Sees a reply before the client does. */
    async replied(server, line) {
        if (this.storing && line.startsWith("150")) setImmediate(() => this.didStartTransfer());
        if (this.storing && line.startsWith("226")) this.uploadedData = await server.get(this.storing);
    }
};
