// The PROXY protocol of github.com/pires/go-proxyproto: a load balancer that tells who calls, and a server that is told.
//
//	proxyproto balance ADDRESS   relays what comes to ADDRESS, as from 192.0.2.1 port 4660
//	proxyproto serve             answers each request of HTTP with what it was told
//
// Both print where they listen.
package main

import (
	"bufio"
	"encoding/json"
	"fmt"
	"io"
	"log"
	"net"
	"net/http"
	"os"

	"github.com/pires/go-proxyproto"
	"github.com/pires/go-proxyproto/tlvparse"
)

func main() {
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(listener.Addr())
	handle := serve
	if os.Args[1] == "balance" {
		handle = balance
	}
	for {
		caller, err := listener.Accept()
		if err != nil {
			log.Fatal(err)
		}
		go handle(caller.(*net.TCPConn))
	}
}

func balance(caller *net.TCPConn) {
	defer caller.Close()
	server, err := net.Dial("tcp", os.Args[2])
	if err != nil {
		log.Fatal(err)
	}
	defer server.Close()
	from := &net.TCPAddr{IP: net.IPv4(192, 0, 2, 1), Port: 4660}
	header := proxyproto.HeaderProxyFromAddrs(2, from, &net.TCPAddr{IP: net.IPv4(198, 51, 100, 2), Port: 443})
	if _, err := header.WriteTo(server); err != nil {
		log.Fatal(err)
	}
	go func() {
		io.Copy(server, caller)
		server.(*net.TCPConn).CloseWrite()
	}()
	io.Copy(caller, server)
}

func serve(caller *net.TCPConn) {
	defer caller.Close()
	reader := bufio.NewReader(caller)
	told := map[string]any{}
	header, err := proxyproto.Read(reader)
	if err != nil {
		told["error"] = err.Error()
	} else {
		told["version"] = header.Version
		told["from"] = header.SourceAddr.String()
		told["to"] = header.DestinationAddr.String()
		fields, err := header.TLVs()
		if err != nil {
			told["error"] = err.Error()
		}
		for _, field := range fields {
			switch field.Type {
			case proxyproto.PP2_TYPE_ALPN:
				told["alpn"] = string(field.Value)
			case proxyproto.PP2_TYPE_AUTHORITY:
				told["authority"] = string(field.Value)
			}
		}
		if ssl, found := tlvparse.FindSSL(fields); found {
			told["ssl"] = ssl.ClientSSL()
			told["certificate"] = ssl.ClientCertConn()
			told["ssl_version"], _ = ssl.SSLVersion()
			told["cipher"], _ = ssl.SSLCipher()
			told["group"], _ = ssl.SSLGroup()
			told["scheme"], _ = ssl.SSLSigScheme()
		}
	}
	if _, err := http.ReadRequest(reader); err != nil {
		told["error"] = err.Error()
	}
	body, _ := json.Marshal(told)
	fmt.Fprintf(caller, "HTTP/1.0 200 OK\r\nContent-Length: %d\r\n\r\n%s", len(body), body)
}
