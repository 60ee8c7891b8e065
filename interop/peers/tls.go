// A TLS 1.3 peer of Go's standard library: `client PORT ROOTS GROUP`, or `server CHAIN KEY GROUP`, which tells its port.
// What the one sends in a line the other sends back turned round.
package main

import (
	"bufio"
	"crypto/tls"
	"crypto/x509"
	"fmt"
	"os"
	"slices"
	"strconv"
)

func main() {
	if len(os.Args) != 5 {
		fail("three arguments after client or server")
	}
	number, err := strconv.ParseUint(os.Args[4], 10, 16)
	check(err)
	config := &tls.Config{MinVersion: tls.VersionTLS13, CurvePreferences: []tls.CurveID{tls.CurveID(number)}}
	switch os.Args[1] {
	case "client":
		client(config)
	case "server":
		server(config)
	default:
		fail("client or server")
	}
}

func client(config *tls.Config) {
	roots, err := os.ReadFile(os.Args[3])
	check(err)
	config.RootCAs = x509.NewCertPool()
	if !config.RootCAs.AppendCertsFromPEM(roots) {
		fail("no root")
	}
	config.ServerName = "server.example"
	connection, err := tls.Dial("tcp", "127.0.0.1:"+os.Args[2], config)
	check(err)
	_, err = connection.Write([]byte("hello\n"))
	check(err)
	line, err := bufio.NewReader(connection).ReadString('\n')
	check(err)
	if line != "olleh\n" {
		fail(line)
	}
	check(connection.Close())
}

func server(config *tls.Config) {
	pair, err := tls.LoadX509KeyPair(os.Args[2], os.Args[3])
	check(err)
	config.Certificates = []tls.Certificate{pair}
	listener, err := tls.Listen("tcp", "127.0.0.1:0", config)
	check(err)
	_, port, _ := cut(listener.Addr().String())
	fmt.Println(port)
	connection, err := listener.Accept()
	check(err)
	line, err := bufio.NewReader(connection).ReadBytes('\n')
	check(err)
	text := line[:len(line)-1]
	slices.Reverse(text)
	_, err = connection.Write(line)
	check(err)
	check(connection.Close())
}

func cut(address string) (string, string, bool) {
	for i := len(address) - 1; i >= 0; i-- {
		if address[i] == ':' {
			return address[:i], address[i+1:], true
		}
	}
	return address, "", false
}

func check(err error) {
	if err != nil {
		fail(err.Error())
	}
}

func fail(what string) {
	fmt.Fprintln(os.Stderr, what)
	os.Exit(1)
}
